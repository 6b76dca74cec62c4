#include "trireme/testing/seeds.h"

#include <cerrno>
#include <cstdlib>
#include <exception>

namespace trireme::testing {
namespace {

std::optional<std::string> run(std::uint64_t seed, const Scenario& scenario) {
  try {
    return scenario(seed);
  } catch (const std::exception& error) {
    return std::string("threw ") + error.what();
  }
}

}  // namespace

std::optional<std::string> for_each_seed(const std::string& test, int count,
                                         const Scenario& scenario) {
  std::uint64_t first = 1;
  auto last = static_cast<std::uint64_t>(count);
  if (const char* more = std::getenv("TRIREME_SEED_COUNT")) last = std::strtoull(more, nullptr, 10);
  if (const char* one = std::getenv("TRIREME_SEED")) first = last = std::strtoull(one, nullptr, 10);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    if (const std::optional<std::string> failure = run(seed, scenario)) {
      return "seed " + std::to_string(seed) + ": " + *failure +
             "\nto see it again: TRIREME_SEED=" + std::to_string(seed) + " " +
             std::string(program_invocation_name) + " --gtest_filter=" + test;
    }
  }
  return std::nullopt;
}

}  // namespace trireme::testing
