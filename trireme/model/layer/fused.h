// Layers that compute in bfloat16 on a GPU, in one kernel each, with float32 parameters. They are
// used where autocast computes in bfloat16 and the activations are bfloat16 on a GPU; everything
// else runs torch's operations as before. Gradients of parameters are float32.
//
// Errors:        Misuse if gradients of gradients are requested, which these layers do not have.
// Thread safety: pure functions; any thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace trireme::model {

// Whether autocast computes in bfloat16 on this device and the kernels for it exist.
bool has_fused_layers(at::Device device);
// The same, and x has the right type and a last dimension that is a multiple of 8.
bool is_fused(const at::Tensor& x);

// The type of the activations that blocks add up to: bfloat16 where layers are fused, otherwise
// that of x.
at::Tensor as_residual_stream(const at::Tensor& x);

// x and its layer norm over the last dimension. The gradients of both are added in the kernel of
// the norm's gradient. `weight` is float32, `bias` too or undefined.
// REQUIRES: is_fused(x), a width of at most kernel::kNormWidthMax.
std::pair<at::Tensor, at::Tensor> split_norm(const at::Tensor& x, const at::Tensor& weight,
                                             const at::Tensor& bias, double epsilon);

// gelu(x + bias), with the tanh approximation. REQUIRES: is_fused(x), float32 bias.
at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias);

// The sum over the rows of a matrix in another type; the gradient of a bias. Torch's operation if
// its own gradient is wanted.
at::Tensor sum_of_rows(const at::Tensor& rows, at::ScalarType type);

// (B, T, 3 H D) to queries, keys and values (B, H, T, D), which are views of it. Backward copies
// their gradients once. REQUIRES: is_fused(all), D a multiple of 8.
std::vector<at::Tensor> split_heads(const at::Tensor& all, std::int64_t head_width);

// The summed cross entropy, float32, of logits (rows, classes) and class numbers (rows). Float32
// logits never exist. REQUIRES: bfloat16 logits on a GPU where has_fused_layers().
at::Tensor fused_cross_entropy(const at::Tensor& logits, const at::Tensor& target,
                               std::int64_t ignored);

}  // namespace trireme::model
