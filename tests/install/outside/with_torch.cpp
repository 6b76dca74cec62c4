// Goal:   a program elsewhere links trireme::trireme and computes with its torch.
// Method: one sum; narrow includes keep this test cheap.

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

#include <cstdio>

#include "trireme/base/build_info.h"

int main() {
  const float sum = at::ones({2, 3}).sum().item<float>();
  std::printf("torch %s says %g\n", trireme::base::build_info().torch.data(), sum);
  return sum == 6.0f ? 0 : 1;
}
