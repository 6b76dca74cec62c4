// measure() trains a job for a while and says how fast that was, where the time went and whether
// the training was one: the loss finite and falling, weights the same on every rank.
//
// A collective: every rank calls it with its part of the same job. The first rank's clock decides
// when all of them stop.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/train/job.h"
#include "trireme/train/step.h"

namespace trireme::bench {

struct Measured {
  double seconds = 0;      // for all steps that count
  double cpu_seconds = 0;  // in them, of all ranks together
  std::int64_t steps = 0;
  std::int64_t bytes = 0;           // that this rank's codec made of gradients; 0 without one
  std::int64_t wire_bytes = 0;      // that left through the interface; 0 where none was named
  trireme::train::StepTimes parts;  // of all steps together, the mean over ranks
  std::int64_t peak_bytes = 0;      // of the rank that took most
  std::int64_t pss_bytes = 0;       // of all ranks together
  std::string wrong;                // why the answer is not right; empty where it is
};

struct Extent {
  double seconds = 3;      // at least
  std::int64_t every = 1;  // whole multiples of so many steps: rounds
  std::string interface{};
};

Measured measure(trireme::train::Job& job, const Extent& extent);

}  // namespace trireme::bench
