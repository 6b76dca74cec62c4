// A trial is one job of a soak: run to its end, undisturbed or hurt, and looked at afterwards.
//
// Failure: what was promised and not kept is a line in `mistakes`; only what is wrong with the
//          trial itself is thrown.
// Threads: one.

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/cli/soak/draw.h"
#include "trireme/cli/soak/step_book.h"

namespace trireme::cli::soak {

// The job of all trials; a pass and a part of the next, so that a pass ends on the way.
inline constexpr std::int64_t kSteps = 300;
std::string trial_recipe(std::int64_t steps = kSteps);

struct Trial {
  std::filesystem::path folder;
  std::filesystem::path recipe;
  Draw draw;  // no faults: undisturbed
  int workers = 4;
  std::int64_t steps = kSteps;
  std::filesystem::path program{};  // see Subject
  // What the job is to be like; null: nothing.
  const StepBook* undisturbed = nullptr;
  std::filesystem::path undisturbed_job{};
  // Asked before each fault, with how many there were in this trial.
  std::function<bool(int faults)> is_enough{};
};

struct Verdict {
  StepBook book;
  std::vector<std::string> faults;
  std::vector<std::string> mistakes;
  double seconds = 0;
};
Verdict run_trial(const Trial& trial);

}  // namespace trireme::cli::soak
