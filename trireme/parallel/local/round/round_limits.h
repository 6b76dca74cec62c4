// RoundLimits is [sync.round]: the conditions that end a round of replicas besides its number of
// steps. The first condition that is met ends the round.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::parallel::local {

// The error message for an invalid list of "step=steps of a round", or "".
std::string complaint_of_schedule(const std::vector<std::string>& all);

// The shortest round of the schedule. `steps`, the length before the schedule's first entry, counts
// unless that entry is for step 0.
std::int64_t shortest_round(std::int64_t steps, const std::vector<std::string>& schedule);

struct RoundLimits {
  std::vector<std::string> schedule{};
  double seconds = 0;
  double divergence = 0;

  // Whether a rank may end a round for all ranks.
  bool is_asked_for() const noexcept { return seconds > 0 || divergence > 0; }
  bool operator==(const RoundLimits&) const = default;

  static void describe(config::Fields<RoundLimits>& f) {
    f.add("schedule", &RoundLimits::schedule)
        .check([](const std::vector<std::string>& all) { return complaint_of_schedule(all); })
        .help("changes of the steps per round, as \"first step=steps\": [\"1000=64\"]");
    f.add("seconds", &RoundLimits::seconds)
        .at_least(0)
        .unit("s")
        .help("duration after which a rank ends the round for all ranks; 0: no limit");
    f.add("divergence", &RoundLimits::divergence)
        .at_least(0)
        .help(
            "distance of a rank's weights from those at the start of the round, relative to their "
            "norm, at which the rank ends the round for all ranks; 0: no limit");
  }
};

}  // namespace trireme::parallel::local
