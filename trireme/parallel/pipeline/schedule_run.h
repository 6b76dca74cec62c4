// run_schedule() executes a schedule with given times instead of a model. The checker uses it to
// find deadlocks, and the simulation to compute when each rank ends.
//
// Pass:     waits until the previous action of its rank has ended and what it uses is there.
// Receive:  posted, and takes no time. The pass that uses the value waits for it.
// Send:     takes no time, but waits while more than `unreceived_max` sends of activations, or of
//           gradients, from its rank to the same peer have no posted receive. This includes itself:
//           with 0, each send waits for its receive.
// Transfer: begins when its send has been reached and its receive has been posted.
//
// Whether the ranks wait for each other does not depend on the times.
//
// Thread safety: a pure function.
// REQUIRES:      matching transfers, and every stage on its rank; schedule_fault.h checks this.

#pragma once

#include <limits>
#include <string>
#include <vector>

#include "trireme/parallel/pipeline/action.h"
#include "trireme/parallel/pipeline/stage_placement.h"

namespace trireme::parallel::pipeline {

// In seconds, or in any other unit.
struct StageTimes {
  double forward = 1;
  double backward = 2;
  double backward_input = 1;
  double backward_weight = 1;

  double of(Action::Kind kind) const noexcept;  // 0 for a transfer
};

struct PipelineTimes {
  std::vector<StageTimes> stages{};  // by stage; without any, each stage has the default times
  double transfer = 0;               // from one rank to another
};

struct ScheduleRun {
  struct Rank {
    // When each action ended. If there are fewer than actions, the next action waits forever.
    std::vector<double> ends;
    double busy = 0;  // time in passes

    double end() const noexcept { return ends.empty() ? 0 : ends.back(); }
  };
  std::vector<Rank> ranks;

  // "rank 0 waits forever in action 2 (...), rank 1 ..."; empty if all actions ended.
  std::string deadlock(const PipelineSchedule& schedule) const;
};

// No limit of sends.
inline constexpr int kUnlimited = std::numeric_limits<int>::max();

ScheduleRun run_schedule(const PipelineSchedule& schedule, const StagePlacement& placement,
                         const PipelineTimes& times, int unreceived_max);

}  // namespace trireme::parallel::pipeline
