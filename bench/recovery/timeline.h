// Timeline collects the steps that a job's workers report and computes how long an incident delayed
// them.
//
// Thread safety: a value.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "trireme/monitor/step_line.h"

namespace trireme::bench::recovery {

class Timeline {
 public:
  // REQUIRES: the lines of each worker are added in the order in which the worker wrote them.
  void add(const monitor::StepLine& line);

  // The number of steps that this worker made in the newest epoch of all workers.
  int steps_in_epoch(int worker) const;
  std::int64_t epoch() const noexcept { return epoch_; }
  // When the worker began its first micro-batch; nullopt before that.
  std::optional<std::int64_t> began(int worker) const;

  // Seconds from `struck` until all `survivors` finished a step in an epoch after `epoch`, minus
  // the median duration of the five steps that each survivor made next. nullopt until these steps
  // are complete.
  std::optional<double> lost(std::int64_t struck, std::int64_t epoch,
                             const std::set<int>& survivors) const;
  // The longest of the `count` steps of any worker that ended after `struck`, minus the longest of
  // at most `count` steps before it. nullopt until every worker has made enough steps.
  std::optional<double> jolt(std::int64_t struck, const std::set<int>& workers, int count) const;
  // Median duration in seconds of all steps that these workers made; 0 if there are none.
  double median_step(const std::set<int>& workers) const;

 private:
  std::map<int, std::vector<monitor::StepLine>> steps_;  // by worker
  std::map<int, std::int64_t> begins_;
  std::int64_t epoch_ = 0;
};

}  // namespace trireme::bench::recovery
