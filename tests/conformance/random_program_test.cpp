// Goal:   for any order of operations, groups, sizes, places, priorities and waits, the ranks match
//         the model and do not hang.
// Method: programs generated from seeds, on threads. A failing seed is printed with the command
//         that runs it again; TRIREME_SEED_COUNT runs more of them.

#include "tests/conformance/random_program.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"
#include "trireme/testing/seeds.h"

namespace trireme::comm::conformance {
namespace {

TEST(RandomProgram, ResultsMatchTheModel) {
  const auto failure = testing::for_each_seed(
      "RandomProgram.ResultsMatchTheModel", 40,
      [](std::uint64_t seed) -> std::optional<std::string> {
        const Program program = make_program(seed);
        const auto groups = connect_threads(program.ranks, {.timeout = std::chrono::seconds(20)});
        std::mutex mutex;
        std::string complaints;
        testing::run_rank_threads(program.ranks, [&](int rank) {
          const Group& world = groups[static_cast<std::size_t>(rank)];
          const std::string mine = run_program(program, seed, world);
          std::lock_guard lock(mutex);
          complaints += mine;
        });
        if (complaints.empty()) return std::nullopt;
        return complaints;
      });
  EXPECT_FALSE(failure.has_value()) << *failure;
}

TEST(RandomProgram, ASeedDeterminesTheProgram) {
  const Program a = make_program(7), b = make_program(7);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  EXPECT_EQ(a.groups, b.groups);
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    EXPECT_EQ(a.steps[i].to_text(), b.steps[i].to_text());
  }
}

TEST(RandomProgram, SeedsReachEveryKindAndType) {
  std::set<OpKind> kinds;
  std::set<DType> types;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const Step& step : make_program(seed).steps) {
      kinds.insert(step.kind);
      types.insert(step.type);
    }
  }
  EXPECT_EQ(kinds.size(), 11u) << "every kind except receive, which is part of send";
  EXPECT_EQ(types.size(), static_cast<std::size_t>(kDTypeCount));
}

}  // namespace
}  // namespace trireme::comm::conformance
