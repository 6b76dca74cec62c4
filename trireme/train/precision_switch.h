// PrecisionSwitch decides in which precision each step runs: float32 for the first
// train.fp32_steps, then train.precision, and float32 again for train.fallback_steps after a
// step that failed in 16 bits.
//
// A step in 16 bits failed if its loss is not finite, if its gradients are not finite (except in
// float16, where overflows are expected), or if the loss is more than fallback_jump standard
// deviations above its running mean. All ranks know these losses and therefore switch in the same
// step; a job refuses fallback_steps if ranks train replicas with different losses. The state is
// saved in checkpoints.
//
// Thread safety: pure functions of their arguments.

#pragma once

#include <cstdint>

#include "trireme/train/recipe/config.h"

namespace trireme::train {

class PrecisionSwitch {
 public:
  struct State {
    double mean = 0;                 // the running mean of losses
    double variance = 0;             // around the mean
    std::int64_t seen = 0;           // number of losses
    std::int64_t float32_until = 0;  // the first step that runs in 16 bits again
  };

  explicit PrecisionSwitch(const TrainConfig& config) : config_(config) {}

  // The precision of a step, counted from 0.
  Precision at(const State& state, std::int64_t step) const noexcept;
  // The state after a step. `is_finite`: loss and gradients are finite.
  State after(State state, std::int64_t step, double loss, bool is_finite) const;

 private:
  bool went_wrong(const State& state, double loss, bool is_finite) const;

  TrainConfig config_;
};

}  // namespace trireme::train
