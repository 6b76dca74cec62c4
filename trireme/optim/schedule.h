// Schedule is the learning rate of every step, as arithmetic: nothing is stored, so a resumed job
// goes on at the rate it would have had.
//
// With warm-up over w steps, step s < w has the rate (s + 1) / w of the base; step w is the first
// of the schedule proper, which PyTorch's StepLR, LinearLR and CosineAnnealingLR describe.
//
// Threads: pure.

#pragma once

#include <cstdint>

namespace trireme::optim {

class Schedule {
 public:
  enum class Kind { Constant, Step, Linear, Cosine };

  struct Options {
    Kind kind = Kind::Constant;
    double rate = 1e-3;
    std::int64_t steps = 0;  // of the whole job, warm-up included; linear and cosine end there
    std::int64_t warmup = 0;
    std::int64_t every = 1;   // step: between two drops
    double factor = 0.1;      // step: at each drop
    double final_factor = 0;  // linear, cosine: what is left at the end and after it
  };

  // A constant rate.
  explicit Schedule(double rate) : Schedule(Options{.rate = rate}) {}
  explicit Schedule(const Options& options);

  // `step` is how many updates were made before: from 0.
  double rate(std::int64_t step) const noexcept;

 private:
  Options options_;
};

}  // namespace trireme::optim
