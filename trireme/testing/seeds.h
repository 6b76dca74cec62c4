// for_each_seed() runs a scenario with many seeds, and reports which seed failed and how to replay
// it.
//
//   TRIREME_SEED=1234           runs only that seed
//   TRIREME_SEED_COUNT=100000   runs more seeds, for a soak test
//
// Errors:        returns the scenario's text with the seed and the command that replays it.
// Thread safety: one thread at a time.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trireme::testing {

// Returns what went wrong, or nothing.
using Scenario = std::function<std::optional<std::string>(std::uint64_t seed)>;

// Runs seeds 1 to `count` until one fails; returns the failure, or nothing. `test` is the name of
// the running test, for the replay command.
std::optional<std::string> for_each_seed(const std::string& test, int count,
                                         const Scenario& scenario);

}  // namespace trireme::testing
