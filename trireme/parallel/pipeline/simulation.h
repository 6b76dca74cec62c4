// simulate() computes how long a step takes with given times, to choose a schedule and to compare
// it with what was measured.
//
//   PipelineTimes times{.stages = measured, .transfer = 20e-6};
//   simulate(schedule, placement, times).bubble;   // fraction of the time in which ranks wait
//
// Passes of a rank run one after another; transfers take the same time each, do not slow each other
// down, and overlap with passes (schedule_run.h has the rules). A step begins when the first pass
// may begin, and ends when the last rank has ended; the update of the weights is not included.
//
// Thread safety: a pure function.
// Errors:        Misuse if the ranks wait for each other, or if times are missing.
// REQUIRES:      a schedule without fault (schedule_fault.h).

#pragma once

#include <vector>

#include "trireme/parallel/pipeline/action.h"
#include "trireme/parallel/pipeline/schedule_run.h"
#include "trireme/parallel/pipeline/stage_placement.h"

namespace trireme::parallel::pipeline {

struct SimulatedStep {
  double makespan = 0;       // of all ranks, in the unit of the times
  std::vector<double> busy;  // by rank: time in passes
  double bubble = 0;         // 1 - (mean of busy) / makespan; 0 if no pass takes time
};

// Sends are buffered without limit, unless `unreceived_max` says otherwise.
SimulatedStep simulate(const PipelineSchedule& schedule, const StagePlacement& placement,
                       const PipelineTimes& times, int unreceived_max = kUnlimited);

}  // namespace trireme::parallel::pipeline
