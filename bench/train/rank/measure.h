// measure() trains a job for a given time and reports its speed, the time per phase and whether the
// training is correct: the loss is finite and falls, and the weights are equal on all ranks.
//
// A collective: every rank calls it with its part of the same job. Rank 0's clock decides when all
// ranks stop.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/train/job.h"
#include "trireme/train/step.h"

namespace trireme::bench {

struct Measured {
  double seconds = 0;      // for all measured steps
  double cpu_seconds = 0;  // in these steps, of all ranks together
  std::int64_t steps = 0;
  std::int64_t bytes = 0;           // of encoded gradients from this rank; 0 without a codec
  std::int64_t wire_bytes = 0;      // sent through the interface; 0 if none was given
  trireme::train::StepTimes parts;  // of all steps together, the mean over ranks
  std::int64_t peak_bytes = 0;      // of the rank that used most
  std::int64_t pss_bytes = 0;       // of all ranks together
  std::string wrong;                // why the training is incorrect; empty if it is correct
};

struct Extent {
  double seconds = 3;      // at least
  std::int64_t every = 1;  // the number of steps is a multiple of this: whole rounds
  std::string interface{};
};

Measured measure(trireme::train::Job& job, const Extent& extent);

}  // namespace trireme::bench
