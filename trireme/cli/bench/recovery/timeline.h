// Timeline is what the workers of a job said of their steps, and how long an incident kept them
// from the next.
//
// Threads: a value.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "trireme/monitor/step_line.h"

namespace trireme::cli::bench::recovery {

class Timeline {
 public:
  // In the order in which a worker wrote them.
  void add(const monitor::StepLine& line);

  // Steps that this worker made in the newest epoch of all.
  int steps_in_epoch(int worker) const;
  std::int64_t epoch() const noexcept { return epoch_; }
  // Nothing before it began its first slot.
  std::optional<std::int64_t> began(int worker) const;

  // Seconds from `struck` until all of `survivors` had finished a step in an epoch after `epoch`,
  // less the median of the five steps that each made next. Nothing as long as those are missing.
  std::optional<double> lost(std::int64_t struck, std::int64_t epoch,
                             const std::set<int>& survivors) const;
  // The largest of the `count` steps of anybody that ended after `struck`, less the largest of as
  // many before; nothing as long as somebody has made fewer.
  std::optional<double> jolt(std::int64_t struck, const std::set<int>& workers, int count) const;
  // Seconds, of all steps that these workers made; 0 where there are none.
  double median_step(const std::set<int>& workers) const;

 private:
  std::map<int, std::vector<monitor::StepLine>> steps_;  // by worker
  std::map<int, std::int64_t> begins_;
  std::int64_t epoch_ = 0;
};

}  // namespace trireme::cli::bench::recovery
