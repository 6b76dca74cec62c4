// What a step's communication takes by itself, with nothing to hide behind.

#pragma once

#include <string>

#include "trireme/comm/group.h"

namespace trireme::bench {

struct Exchange {
  std::string sync;             // as a recipe calls it, not "auto"
  std::int64_t parameters = 0;  // float32
  std::int64_t bucket = 1;      // bytes
};

// Seconds for the collectives of one step, bucket after bucket; the best of several rounds. A
// collective. 0 where ranks do not speak.
double communication_alone(const comm::Group& group, const Exchange& exchange);

}  // namespace trireme::bench
