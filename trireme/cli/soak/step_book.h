// StepBook holds what the workers of a job said of its steps, and finds whatever says that a
// sample was lost, or used twice.
//
//   - every step is there, and everybody who made it says the same of it
//   - the samples of all steps up to one are as many as the position in the data after it says
//   - nobody makes a step twice, or leaves one out
//   - each step's loss is that of an undisturbed job, but for the rounding of sums
//
// Threads: a value.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trireme/monitor/step_line.h"

namespace trireme::cli::soak {

class StepBook {
 public:
  void add(const monitor::StepLine& line);

  // Of the newest step.
  std::int64_t last() const { return steps_.empty() ? 0 : steps_.rbegin()->first; }
  bool has_begun(int worker) const { return workers_.contains(worker); }
  std::size_t lines() const noexcept { return count_; }

  // At the end of a job of so many steps over so many samples. `undisturbed` may be null.
  std::vector<std::string> mistakes(std::int64_t steps, std::int64_t samples,
                                    const StepBook* undisturbed) const;

 private:
  void compare(const StepBook& undisturbed, std::vector<std::string>& all) const;

  std::map<std::int64_t, monitor::StepLine> steps_;  // as the first said it
  std::map<int, std::int64_t> workers_;              // the last step of each; 0: none yet
  std::vector<std::string> mistakes_;
  std::size_t count_ = 0;
};

}  // namespace trireme::cli::soak
