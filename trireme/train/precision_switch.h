// PrecisionSwitch says in which precision each step runs: float32 at first where the recipe wants
// it, then the recipe's, and float32 again for a while after a step that went wrong.
//
// Meaning: a step in 16 bits went wrong where its loss is not finite, or its gradients are not (of
//          float16 those overflow by design, and do not count), or where the loss is more than
//          fallback_jump deviations above its running mean. All of it follows from losses that
//          every rank knows, so that all switch together (a job refuses fallback_steps where ranks
//          train replicas with losses of their own); and the state is saved with the job.
// Threads: pure.

#pragma once

#include <cstdint>

#include "trireme/train/recipe/config.h"

namespace trireme::train {

class PrecisionSwitch {
 public:
  struct State {
    double mean = 0;                 // of losses, a running one
    double variance = 0;             // around it
    std::int64_t seen = 0;           // losses
    std::int64_t float32_until = 0;  // the step that is the first in 16 bits again
  };

  explicit PrecisionSwitch(const TrainConfig& config) : config_(config) {}

  // Of a step, from 0.
  Precision at(const State& state, std::int64_t step) const noexcept;
  // What a step has made of the state. `is_finite`: its gradients too.
  State after(State state, std::int64_t step, double loss, bool is_finite) const;

 private:
  bool went_wrong(const State& state, double loss, bool is_finite) const;

  TrainConfig config_;
};

}  // namespace trireme::train
