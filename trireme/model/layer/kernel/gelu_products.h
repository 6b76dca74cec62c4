// Two linear layers of bfloat16 with a GELU (tanh approximation) between them, on a GPU: cuBLASLt
// computes GELU, its gradient and that of the bias before it where its matrix products write their
// results, so that no kernel reads these again.
//
// cuBLASLt is that of PyTorch, found when it is first used. Its descriptors and the algorithms that
// it recommends are kept per thread and sizes, until the process ends.
//
// Memory:        bfloat16, contiguous, at multiples of 16 bytes.
// Errors:        Io for an error of cuBLASLt.
// Thread safety: any thread.

#pragma once

#include <cstdint>

#include "trireme/device/device.h"

namespace trireme::model::kernel {

inline constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;

struct GeluSizes {
  std::int64_t rows = 0;
  std::int64_t inputs = 0;   // of the first layer
  std::int64_t hidden = 0;   // its outputs, and the inputs of the second
  std::int64_t outputs = 0;  // of the second
};

// Whether both products below exist for these sizes: not without CUDA, in a build without
// cuBLASLt's headers, with a PyTorch without cuBLASLt, or for sizes that are no multiples of 8.
bool has_gelu_products(const GeluSizes& sizes, const Stream& stream);

// before = x W^T + bias, y = gelu(before).
struct GeluProduct {
  GeluSizes sizes{};
  const void* x = nullptr;       // (rows, inputs)
  const void* weight = nullptr;  // (hidden, inputs)
  const void* bias = nullptr;    // (hidden)
  void* before = nullptr;        // (rows, hidden)
  void* y = nullptr;             // (rows, hidden)
  void* workspace = nullptr;     // kWorkspaceBytes
};
void gelu_product(const GeluProduct& all, const Stream& stream);

// The gradient of the second layer's result to those of `before` and of the first layer's bias.
struct GeluProductGradient {
  GeluSizes sizes{};
  const void* of_result = nullptr;  // (rows, outputs)
  const void* weight = nullptr;     // (outputs, hidden), of the second layer
  const void* before = nullptr;     // (rows, hidden)
  void* of_before = nullptr;        // (rows, hidden)
  void* of_bias = nullptr;          // (hidden)
  void* workspace = nullptr;        // kWorkspaceBytes
};
void gelu_product_gradient(const GeluProductGradient& all, const Stream& stream);

}  // namespace trireme::model::kernel
