// Measures a job. Both functions are collectives: every rank calls them with its part of the same
// job. Rank 0's clock decides when all ranks stop.

#pragma once

#include <cstdint>
#include <string>

#include "bench/train/options.h"
#include "bench/train/rank/workload.h"
#include "trireme/train/job.h"

namespace trireme::bench {

// Trains for options.seconds, for whole rounds of options.every steps. Whether the training is
// correct: the loss is finite and falls, the weights are equal on all ranks, and the parts of a
// step add up to it; rank 0 reports what is wrong on standard error.
train::TrainRecord measure(trireme::train::Job& job, const train::TrainOptions& options,
                           const Workload& workload);

struct GradientExchange {
  std::string sync;             // as in a recipe, not "auto"
  std::int64_t parameters = 0;  // float32
  std::int64_t bucket = 1;      // bytes
};

// Seconds for the collectives of one step when they do not overlap with computation: one bucket
// after another, the best of several rounds. Returns 0 with one rank. REQUIRES: the strategy
// commits every step.
double communication_alone(const comm::Group& group, const GradientExchange& exchange);

}  // namespace trireme::bench
