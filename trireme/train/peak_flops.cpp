#include "trireme/train/peak_flops.h"

#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "trireme/train/stopwatch.h"

namespace trireme::train {

double measure_peak_flops() {
  const c10::InferenceMode guard;
  constexpr std::int64_t kWidth = 512;
  constexpr double kOperations = 2.0 * kWidth * kWidth * kWidth;
  const at::Tensor a = at::ones({kWidth, kWidth});
  at::matmul(a, a);  // threads start, memory is touched
  double best = 0;
  for (int i = 0; i < 12; ++i) {
    Stopwatch watch;
    at::matmul(a, a);
    best = std::max(best, kOperations / std::max(watch.lap(), 1e-9));
  }
  return best;
}

}  // namespace trireme::train
