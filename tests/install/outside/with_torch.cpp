// Goal:   a program elsewhere links trireme::trireme, calls it and computes with its torch.
// Method: one sum and one call; narrow includes keep this test cheap.

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

#include <cstdio>

#include "trireme/base/build_info.h"
#include "trireme/comm/torch/tensor.h"

int main() {
  const float sum = at::ones({2, 3}).sum().item<float>();
  std::printf("torch %s says %g\n", trireme::base::build_info().torch.data(), sum);
  const bool is_float = trireme::comm::dtype_of(at::kFloat) == trireme::comm::DType::Float32;
  return sum == 6.0f && is_float ? 0 : 1;
}
