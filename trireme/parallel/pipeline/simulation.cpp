#include "trireme/parallel/pipeline/simulation.h"

#include <algorithm>
#include <string>

#include "trireme/base/check.h"

namespace trireme::parallel::pipeline {

SimulatedStep simulate(const PipelineSchedule& schedule, const StagePlacement& placement,
                       const PipelineTimes& times, int unreceived_max) {
  const ScheduleRun run = run_schedule(schedule, placement, times, unreceived_max);
  const std::string deadlock = run.deadlock(schedule);
  TRIREME_CHECK(deadlock.empty(), deadlock);
  SimulatedStep step;
  double busy = 0;
  for (const ScheduleRun::Rank& rank : run.ranks) {
    step.makespan = std::max(step.makespan, rank.end());
    step.busy.push_back(rank.busy);
    busy += rank.busy;
  }
  const double available = step.makespan * static_cast<double>(run.ranks.size());
  step.bubble = available > 0 ? 1 - busy / available : 0;
  return step;
}

}  // namespace trireme::parallel::pipeline
