// fault_in() checks the schedules of all ranks against each other, before anything runs.
//
// Complete:      each stage runs, on its rank, one forward pass of each micro-batch, then either
//                one Backward or one BackwardInput and later one BackwardWeight.
// Consistent:    what a pass produces for another rank is sent once, after the pass, and received
//                once, before the pass that uses it; nothing else is sent. From one rank to
//                another, activations are received in the order in which they are sent, and so are
//                gradients.
// Memory:        no rank has more activations alive at a time than its limit.
// Deadlock-free: every action ends, whatever time each one takes, if a send waits while more than
//                `unreceived_max` of its kind have no posted receive (schedule_run.h).
//
// Thread safety: a pure function.
// Errors:        none; the result is empty, or a sentence about the first fault that was found.

#pragma once

#include <string>
#include <vector>

#include "trireme/parallel/pipeline/action.h"
#include "trireme/parallel/pipeline/stage_placement.h"

namespace trireme::parallel::pipeline {

struct ScheduleLimits {
  int micro_batches = 1;
  std::vector<int> activations_max{};  // by rank; empty if memory is not limited
  // 0 is the strictest: no send is buffered. The schedules of make_schedule() need no more.
  int unreceived_max = 0;
};

// "rank 2: action 5 (forward of micro-batch 3 on stage 1): stage 1 is on rank 1". Actions are
// counted from 0.
std::string fault_in(const PipelineSchedule& schedule, const StagePlacement& placement,
                     const ScheduleLimits& limits);

}  // namespace trireme::parallel::pipeline
