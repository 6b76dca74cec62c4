// for_each_seed() runs a scenario under many seeds and says which one failed and how to see it
// again.
//
//   TRIREME_SEED=1234           runs that seed alone
//   TRIREME_SEED_COUNT=100000   runs more of them, for a soak
//
// Failure: the text that the scenario returned, with the seed and the command that replays it.
// Threads: one.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trireme::testing {

// Says what went wrong, or nothing.
using Scenario = std::function<std::optional<std::string>(std::uint64_t seed)>;

// Runs seeds 1 to `count` until one fails; returns the failure, or nothing. `test` is the name of
// the running test, for the replay command.
std::optional<std::string> for_each_seed(const std::string& test, int count,
                                         const Scenario& scenario);

}  // namespace trireme::testing
