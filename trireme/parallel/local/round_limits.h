// RoundLimits is [sync.round]: what ends a round of replicas besides its number of steps; whichever
// comes first.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::parallel::local {

// What is wrong with a list of "step=steps of a round", or "".
std::string complaint_of_schedule(const std::vector<std::string>& all);

// Of all that it names, and of `steps` where that counts until its first one.
std::int64_t shortest_round(std::int64_t steps, const std::vector<std::string>& schedule);

struct RoundLimits {
  std::vector<std::string> schedule{};
  double seconds = 0;
  double divergence = 0;

  static void describe(config::Fields<RoundLimits>& f) {
    f.add("schedule", &RoundLimits::schedule)
        .check([](const std::vector<std::string>& all) { return complaint_of_schedule(all); })
        .help("other numbers of steps, each from a step on, as in [\"1000=64\"]");
    f.add("seconds", &RoundLimits::seconds)
        .at_least(0)
        .unit("s")
        .help("after which a rank wants the round to end; 0: never");
    f.add("divergence", &RoundLimits::divergence)
        .at_least(0)
        .help(
            "of a rank's weights from those at the round's beginning, as a share of their norm, at "
            "which it wants the round to end; 0: any");
  }
};

}  // namespace trireme::parallel::local
