// StepBook collects the step reports of a job's workers and finds evidence that a sample was lost
// or used twice. It checks that
//
//   - every step was made, and all workers that made it report the same values for it
//   - the number of samples used up to a step matches the position in the data after it
//   - no worker repeats or skips a step
//   - the loss of each step equals that of an undisturbed job, except for rounding of sums
//
// Thread safety: a value.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trireme/monitor/step_line.h"

namespace trireme::soak {

class StepBook {
 public:
  void add(const monitor::StepLine& line);

  // The newest step.
  std::int64_t last() const { return steps_.empty() ? 0 : steps_.rbegin()->first; }
  bool has_begun(int worker) const { return workers_.contains(worker); }
  std::size_t lines() const noexcept { return count_; }

  // Call it after a job of `steps` steps over `samples` samples has ended. `undisturbed` may be
  // null.
  std::vector<std::string> mistakes(std::int64_t steps, std::int64_t samples,
                                    const StepBook* undisturbed) const;

 private:
  void compare(const StepBook& undisturbed, std::vector<std::string>& all) const;

  std::map<std::int64_t, monitor::StepLine> steps_;  // as reported by the first worker
  std::map<int, std::int64_t> workers_;              // the last step of each worker; 0: none yet
  std::vector<std::string> mistakes_;
  std::size_t count_ = 0;
};

}  // namespace trireme::soak
