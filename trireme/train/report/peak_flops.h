// PeakFlops is the number of floating-point operations per second that one rank can reach, which is
// the denominator of MFU (model FLOPs utilization).
//
// No data sheet says it for one rank's share of a machine, so it is measured on matrix products. A
// measurement on a busy machine is too low, by a factor of ten and more. Therefore the best of
// several counts, made at different times, and no utilization is reported before two of them agree.
//
// Thread safety: one thread.

#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <optional>
#include <utility>

#include "trireme/train/recipe/config.h"

namespace trireme::train {

// Of this rank's threads or its GPU, by the fastest type that training in `precision` computes
// with: its own or float32. Takes about a tenth of a second.
double measure_peak_flops(Precision precision, c10::Device device = c10::kCPU);

class PeakFlops {
 public:
  using Measure = std::function<double(Precision)>;

  explicit PeakFlops(Measure measure) : measure_(std::move(measure)) {}

  // Per second; 0 if nothing is known yet.
  double value() const noexcept { return value_; }
  // A peak that another rank measured.
  void raise(double flops) noexcept;
  void measure(Precision precision);
  // Whether the best two of at least three measurements agree within a quarter. On a machine that
  // never settles, six measurements suffice.
  bool is_trusted() const noexcept;
  // The fraction of the peak that `achieved` operations per second are, after another measurement
  // if the peak is not trusted yet or is exceeded. Nullopt if it is still not trusted, or still
  // exceeded: the peak was measured too low, or the operations are counted too high.
  std::optional<double> utilization(double achieved, Precision precision);

 private:
  static constexpr int kMeasurementsTrusted = 6;
  // Each measurement stops training for a tenth of a second.
  static constexpr int kMeasurementsMax = 10;

  Measure measure_;
  double value_ = 0;
  double best_ = 0;    // of the measurements made here
  double second_ = 0;  // likewise
  int measurements_ = 0;
};

}  // namespace trireme::train
