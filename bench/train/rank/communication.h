// The duration of a step's communication when it does not overlap with computation.

#pragma once

#include <string>

#include "trireme/comm/group.h"

namespace trireme::bench {

struct GradientExchange {
  std::string sync;             // as in a recipe, not "auto"
  std::int64_t parameters = 0;  // float32
  std::int64_t bucket = 1;      // bytes
};

// Seconds for the collectives of one step, one bucket after another; the best of several rounds. A
// collective. Returns 0 with one rank. REQUIRES: the strategy commits every step.
double communication_alone(const comm::Group& group, const GradientExchange& exchange);

}  // namespace trireme::bench
