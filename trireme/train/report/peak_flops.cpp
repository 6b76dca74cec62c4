#include "trireme/train/report/peak_flops.h"

#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "trireme/train/autocast.h"
#include "trireme/train/report/stopwatch.h"

namespace trireme::train {
namespace {

constexpr int kProducts = 12;
// A type that the processor has no instructions for is slow, and then no peak either.
constexpr double kSecondsMax = 0.06;

double best_product(at::ScalarType type) {
  const c10::InferenceMode guard;
  constexpr std::int64_t kWidth = 512;
  constexpr double kOperations = 2.0 * kWidth * kWidth * kWidth;
  const at::Tensor a = at::ones({kWidth, kWidth}, type);
  at::matmul(a, a);  // threads start, memory is touched
  double best = 0;
  double spent = 0;
  for (int i = 0; i < kProducts && spent < kSecondsMax; ++i) {
    Stopwatch watch;
    at::matmul(a, a);
    const double seconds = std::max(watch.lap(), 1e-9);
    best = std::max(best, kOperations / seconds);
    spent += seconds;
  }
  return best;
}

}  // namespace

double measure_peak_flops(Precision precision) {
  const double wide = best_product(at::kFloat);
  const auto narrow = narrow_type(precision);
  return narrow ? std::max(wide, best_product(*narrow)) : wide;
}

void PeakFlops::raise(double flops) noexcept {
  value_ = std::max(value_, flops);
}

void PeakFlops::measure(Precision precision) {
  if (measurements_++ < kMeasurementsMax) raise(measure_(precision));
}

double PeakFlops::utilization(double achieved, Precision precision) {
  if (achieved > value_) measure(precision);
  return value_ > 0 ? achieved / value_ : 0;
}

}  // namespace trireme::train
