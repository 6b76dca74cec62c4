// Schedule is the learning rate of every step, as arithmetic: nothing is stored, so a resumed job
// goes on at the rate it would have had.
//
// With warm-up over w steps, step s < w has the rate (s + 1) / w of the base; step w is the first
// of the schedule proper, which PyTorch's StepLR, LinearLR, CosineAnnealingLR, ExponentialLR,
// PolynomialLR, OneCycleLR and CosineAnnealingWarmRestarts describe. InverseSqrt is that of
// Vaswani et al. 2017, which counts from the first step.
//
// Threads: pure.

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
    std::int64_t steps = 0;  // of the whole job, warm-up included; linear and cosine end there
    std::int64_t warmup = 0;
    std::int64_t every = 1;   // step: between two drops; warm restarts: of the first round
    double factor = 0.1;      // step: at each drop; exponential: at each step
    double final_factor = 0;  // what is left at the end (of a round) and after it
    double power = 1;         // polynomial
    double first_factor = 1;  // one cycle: what it begins with
    double rise_share = 0.3;  // one cycle: of the steps, until the full rate
    std::int64_t growth = 1;  // warm restarts: of a round over the one before it
  };

  // A constant rate.
  explicit Schedule(double rate) : Schedule(Options{.rate = rate}) {}
  explicit Schedule(const Options& options);

  // `step` is how many updates were made before: from 0.
  double rate(std::int64_t step) const noexcept;

 private:
  double factor_at(std::int64_t since) const noexcept;
  double one_cycle_at(double since, double length) const noexcept;
  double warm_restarts_at(std::int64_t since) const noexcept;

  Options options_;
};

}  // namespace trireme::optim
