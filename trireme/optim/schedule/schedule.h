// Schedule computes the learning rate of every step. It stores nothing, so a resumed job continues
// at the rate it would have had.
//
// With warm-up over w steps, step s < w has (s + 1) / w of the base rate; step w is the first step
// of the schedule itself, which follows PyTorch's StepLR, LinearLR, CosineAnnealingLR,
// ExponentialLR, PolynomialLR, OneCycleLR and CosineAnnealingWarmRestarts. InverseSqrt is that of
// Vaswani et al. 2017, which counts from the first step.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>

namespace trireme::optim {

class Schedule {
 public:
  enum class Kind {
    Constant,
    Step,
    Linear,
    Cosine,
    Exponential,
    Polynomial,
    InverseSqrt,
    OneCycle,
    WarmRestarts,
  };

  struct Options {
    Kind kind = Kind::Constant;
    double rate = 1e-3;
    std::int64_t steps = 0;  // of the whole job, including warm-up; linear and cosine end there
    std::int64_t warmup = 0;
    // Step: steps between two drops; warm restarts: length of the first round.
    std::int64_t every = 1;
    double factor = 0.1;       // step: factor per drop; exponential: factor per step
    double min_lr_factor = 0;  // factor at the end (of a round) and after it
    double power = 1;          // polynomial
    double start_factor = 1;   // one cycle: initial factor
    double pct_start = 0.3;    // one cycle: fraction of the steps until the full rate
    std::int64_t growth = 1;   // warm restarts: length of a round relative to the previous one
  };

  // A constant rate.
  explicit Schedule(double rate) : Schedule(Options{.rate = rate}) {}
  explicit Schedule(const Options& options);

  // `step` is the number of updates made before: from 0.
  double rate(std::int64_t step) const noexcept;

 private:
  double factor_at(std::int64_t since) const noexcept;
  double one_cycle_at(double since, double length) const noexcept;
  double warm_restarts_at(std::int64_t since) const noexcept;

  Options options_;
};

}  // namespace trireme::optim
