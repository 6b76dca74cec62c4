// Goal:   a worker's report says whether it makes progress, waits or is in a long phase, and how
//         long its steps take.
// Method: one Liveness, read after each change.

#include "trireme/base/liveness.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

using namespace std::chrono_literals;

TEST(Liveness, StartsInALongPhaseThatTheFirstStepEnds) {
  Liveness liveness;
  EXPECT_TRUE(liveness.report().is_in_long_phase);
  liveness.end_step(1s);
  EXPECT_FALSE(liveness.report().is_in_long_phase);
  liveness.end_step(1s);
  EXPECT_FALSE(liveness.report().is_in_long_phase);
}

TEST(Liveness, ReportsTheMedianOfTheLastSteps) {
  Liveness liveness;
  EXPECT_EQ(liveness.report().step, 0s);
  for (const auto step : {100s, 1s, 2s}) liveness.end_step(step);
  EXPECT_EQ(liveness.report().step, 2s);
  for (int i = 0; i < 20; ++i) liveness.end_step(7s);
  EXPECT_EQ(liveness.report().step, 7s);
}

TEST(Liveness, ScopesNestAndTheEndOfALongPhaseIsProgress) {
  Liveness liveness;
  liveness.end_step(1s);
  const std::uint64_t moves = liveness.report().moves;
  {
    const Liveness::Waiting outer(&liveness);
    {
      const Liveness::Waiting inner(&liveness);
      const Liveness::LongPhase evaluation(&liveness);
      EXPECT_TRUE(liveness.report().is_in_long_phase);
    }
    EXPECT_TRUE(liveness.report().is_waiting);
    EXPECT_FALSE(liveness.report().is_in_long_phase);
  }
  EXPECT_FALSE(liveness.report().is_waiting);
  EXPECT_EQ(liveness.report().waits, 2u);
  EXPECT_EQ(liveness.report().moves, moves + 1);
  const Liveness::Waiting nothing(nullptr);
}

}  // namespace
}  // namespace trireme
