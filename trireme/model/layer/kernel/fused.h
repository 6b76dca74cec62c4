// Kernels of a GPU for layers that compute in bfloat16: each reads and writes its activations once,
// computes in float32 and keeps float32 parameters. They run after the call returns, in the order
// of the stream. Layers use them through trireme/model/layer/fused.h.
//
// Bits:          sums have a fixed order, so results are bitwise reproducible on one kind of GPU.
// Memory:        activations are bfloat16 and contiguous, and begin at a multiple of 16 bytes;
//                rows > 0. Widths are multiples of 8 where nothing else is said.
// Errors:        Unsupported if this build has no CUDA; Io for an error of CUDA.
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>

#include "trireme/device/device.h"

namespace trireme::model::kernel {

// False if this build has no CUDA.
bool has_fused() noexcept;

inline constexpr std::int64_t kNormWidthMax = 8192;
inline constexpr std::int64_t kPartialRows = 132 * 16;  // of scratch memory for sums over rows

// Layer normalization of each row.
struct NormRows {
  const void* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // may be null
  void* y = nullptr;
  float* mean = nullptr;   // (rows)
  float* scale = nullptr;  // (rows): 1 / standard deviation
  std::int64_t rows = 0;
  std::int64_t width = 0;  // at most kNormWidthMax
  float epsilon = 0;
};
void norm(const NormRows& all, const Stream& stream);

struct NormGradient {
  NormRows forward{};  // y is not read
  const void* of_y = nullptr;
  const void* added = nullptr;  // a gradient of x from elsewhere; may be null
  void* of_x = nullptr;
  float* partial = nullptr;         // scratch: (kPartialRows, 2, width)
  float* of_weight_bias = nullptr;  // (2, width): gradients of weight and bias
};
void norm_gradient(const NormGradient& all, const Stream& stream);

// The sum over rows of (rows, width), in float32. `partial`: scratch, (kPartialRows, width).
void column_sum(const void* from, std::int64_t rows, std::int64_t width, float* partial, float* to,
                const Stream& stream);

// y = gelu(x + bias) with the tanh approximation.
struct GeluRows {
  const void* x = nullptr;
  const float* bias = nullptr;
  void* y = nullptr;
  std::int64_t rows = 0;
  std::int64_t width = 0;
};
void bias_gelu(const GeluRows& all, const Stream& stream);
// `of_y` to the gradient of x, and of the bias in float32. `partial` as for column_sum().
void bias_gelu_gradient(const GeluRows& all, const void* of_y, void* of_x, float* partial,
                        float* of_bias, const Stream& stream);

// Three tensors (rows, width) side by side: (rows, 3, width).
void join_three(const void* const from[3], std::int64_t rows, std::int64_t width, void* to,
                const Stream& stream);

// Cross entropy of logits (rows, classes), any number of classes, with class numbers as targets.
struct EntropyRows {
  const void* logits = nullptr;
  const std::int64_t* target = nullptr;
  float* log_sum = nullptr;  // (rows): log of the sum of exp(logits)
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  std::int64_t ignored = -100;  // targets with this value have no loss
};
// The loss of each row, and log_sum. It is NaN for a target that is no class.
void entropy(const EntropyRows& all, float* loss, const Stream& stream);
// The gradient of the logits for a loss that is the sum of all rows; `of_loss` is one value.
void entropy_gradient(const EntropyRows& all, const float* of_loss, void* of_logits,
                      const Stream& stream);

}  // namespace trireme::model::kernel
