// A trial is one job of a soak test: it runs until it ends, with or without faults, and is then
// checked.
//
// Errors:        a violated guarantee is a line in `mistakes`; only problems of the trial itself
//                are thrown.
// Thread safety: one thread.

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/soak/draw.h"
#include "tests/soak/step_book.h"
#include "trireme/base/deadline.h"

namespace trireme::soak {

// The number of steps of all trials: more than one pass over the data, so that a pass ends during
// the job.
inline constexpr std::int64_t kSteps = 300;
std::string trial_recipe(std::int64_t steps = kSteps);

struct Trial {
  std::filesystem::path folder;
  std::filesystem::path recipe;
  Draw draw;  // without faults: undisturbed
  int workers = 4;
  std::int64_t steps = kSteps;
  std::filesystem::path program;  // see Subject
  // The reference that the job is compared with; null: none.
  const StepBook* undisturbed = nullptr;
  std::filesystem::path undisturbed_job{};
  // Called before each fault with the number of faults in this trial so far.
  std::function<bool(int faults)> is_enough{};
};

struct Verdict {
  StepBook book;
  std::vector<std::string> faults;
  std::vector<std::string> mistakes;
  double seconds = 0;
};
Verdict run_trial(const Trial& trial);

}  // namespace trireme::soak
