#include "trireme/parallel/parallel_config.h"

#include <algorithm>

namespace trireme::parallel {

std::string ParallelConfig::mistake_in_schedule(const std::string& name) {
  const auto records = pipeline::schedule_records();
  const auto found = std::ranges::find(records, name, &pipeline::ScheduleRecord::name);
  if (found == records.end()) return "does not exist; use gpipe, 1f1b or interleaved_1f1b";
  return found->has_split_backward ? "can be simulated, but not run yet; use gpipe, 1f1b or "
                                     "interleaved_1f1b"
                                   : "";
}

std::string ParallelConfig::mistake_in_stages(const ParallelConfig& config) {
  const pipeline::ScheduleRecord& schedule = pipeline::schedule_named(config.schedule);
  if (schedule.has_any_stages_per_rank || config.stages() == schedule.stages_per_rank) return "";
  return "stages_per_rank = " + std::to_string(config.stages_per_rank) +
         " requires schedule = " + "\"interleaved_1f1b\"; use that, or remove stages_per_rank";
}

}  // namespace trireme::parallel
