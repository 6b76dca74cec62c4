// PeakFlops is the number of floating-point operations per second that one rank can reach, which is
// the denominator of MFU (model FLOPs utilization).
//
// No data sheet says it for one rank's share of a machine, so it is measured on matrix products. A
// measurement on a busy machine is too low; therefore the best of several counts, and it is
// measured again when training is seen to be faster.
//
// Thread safety: one thread.

#pragma once

#include <functional>

#include "trireme/train/recipe/config.h"

namespace trireme::train {

// Of this rank's threads, by the fastest type that training in `precision` computes with: its own
// or float32. Takes about a tenth of a second.
double measure_peak_flops(Precision precision);

class PeakFlops {
 public:
  using Measure = std::function<double(Precision)>;

  explicit PeakFlops(Measure measure = measure_peak_flops) : measure_(std::move(measure)) {}

  // Per second; 0 where nothing is known yet.
  double value() const noexcept { return value_; }
  // A peak that was measured elsewhere: by another rank.
  void raise(double flops) noexcept;
  void measure(Precision precision);
  // The share of the peak that `achieved` operations per second are. More than 1 means that the
  // peak was measured too low or the operations are counted too high; it is not cut off, because a
  // wrong count would be hidden.
  double utilization(double achieved, Precision precision);

 private:
  // Training may set one record after the other; each measurement costs it a tenth of a second.
  static constexpr int kMeasurementsMax = 6;

  Measure measure_;
  double value_ = 0;
  int measurements_ = 0;
};

}  // namespace trireme::train
