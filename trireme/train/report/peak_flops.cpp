#include "trireme/train/report/peak_flops.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sin.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <torch/cuda.h>

#include <algorithm>

#include "trireme/train/module_precision.h"
#include "trireme/train/report/step_times.h"

namespace trireme::train {
namespace {

// Short products are needed too: on a busy machine a long one hardly ever runs uninterrupted.
constexpr std::int64_t kWidths[] = {256, 512};
constexpr int kProductsMin = 3;
constexpr int kProductsMax = 24;
constexpr double kSecondsMax = 0.04;
constexpr std::int64_t kGpuWidth = 4096;  // enough to fill a GPU
constexpr int kGpuProducts = 10;

double best_product(at::ScalarType type, std::int64_t width) {
  const c10::InferenceMode guard;
  const double operations = 2.0 * static_cast<double>(width * width * width);
  const at::Tensor a = at::ones({width, width}, type);
  at::matmul(a, a);  // threads start, memory is touched
  double best = 0;
  double spent = 0;
  for (int i = 0; i < kProductsMax && (i < kProductsMin || spent < kSecondsMax); ++i) {
    Stopwatch watch;
    at::matmul(a, a);
    const double seconds = std::max(watch.lap(), 1e-9);
    best = std::max(best, operations / seconds);
    spent += seconds;
  }
  return best;
}

// Products of values that are not all alike: alike ones take less power, and a GPU is then faster.
double best_product_on(at::Device gpu, at::ScalarType type) {
  const c10::InferenceMode guard;
  const c10::DeviceGuard on(gpu);
  const std::int64_t width = kGpuWidth;
  const double operations = 2.0 * static_cast<double>(width * width * width);
  const at::Tensor a = at::arange(width * width, at::TensorOptions(gpu).dtype(at::kFloat))
                           .sin()
                           .view({width, width})
                           .to(type);
  at::matmul(a, a);
  torch::cuda::synchronize();
  Stopwatch watch;
  for (int i = 0; i < kGpuProducts; ++i) at::matmul(a, a);
  torch::cuda::synchronize();
  return kGpuProducts * operations / std::max(watch.lap(), 1e-9);
}

double measure_gpu(Precision precision, at::Device gpu) {
  const double wide = best_product_on(gpu, at::kFloat);
  const auto narrow = narrow_type(precision);
  return narrow ? std::max(wide, best_product_on(gpu, *narrow)) : wide;
}

}  // namespace

double measure_peak_flops(Precision precision, at::Device device) {
  if (!device.is_cpu()) return measure_gpu(precision, device);
  double wide = 0;
  for (const std::int64_t width : kWidths) wide = std::max(wide, best_product(at::kFloat, width));
  const auto narrow = narrow_type(precision);
  double best = wide;
  for (const std::int64_t width : kWidths) {
    const double flops = narrow ? best_product(*narrow, width) : 0;
    best = std::max(best, flops);
    // A type that the processor has no instructions for is slow, and its longer products are
    // slower.
    if (flops < wide / 4) break;
  }
  return best;
}

void PeakFlops::raise(double flops) noexcept {
  value_ = std::max(value_, flops);
}

void PeakFlops::measure(Precision precision) {
  if (measurements_ >= kMeasurementsMax) return;
  ++measurements_;
  const double flops = measure_(precision);
  second_ = std::max(second_, std::min(flops, best_));
  best_ = std::max(best_, flops);
  raise(flops);
}

bool PeakFlops::is_trusted() const noexcept {
  const bool do_agree = measurements_ >= 3 && second_ >= 0.75 * best_;
  return do_agree || measurements_ >= kMeasurementsTrusted;
}

std::optional<double> PeakFlops::utilization(double achieved, Precision precision) {
  if (!is_trusted() || achieved > value_) measure(precision);
  if (!is_trusted() || achieved > value_ || value_ <= 0) return std::nullopt;
  return achieved / value_;
}

}  // namespace trireme::train
