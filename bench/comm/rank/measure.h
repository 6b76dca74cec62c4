// measure() times one exercise and its bounds in turns: a batch of calls, a batch of each bound,
// repeated until the time is used up.
//
// Calls:      each call is timed on every rank, which gives percentiles; the slowest rank counts.
// Bounds:     ranks do not wait for each other, so their rates are added up.
// Collective: every rank calls it with the same exercise, bounds and time.

#pragma once

#include <vector>

#include "bench/comm/rank/bound.h"
#include "bench/comm/rank/exercise.h"

namespace trireme::bench {

struct Timing {
  double p50 = 0;  // seconds
  double p99 = 0;
  std::vector<double> bounds;  // seconds for the same work, in the order of the bounds
};

// `seconds` is the time to spend in calls of the exercise.
Timing measure(const comm::Group& group, Exercise& exercise, const std::vector<Bound>& bounds,
               double seconds);

}  // namespace trireme::bench
