// Goal:   a mark in shared memory identifies the action and the step that a rank had begun.
// Method: marks of all occasions, by hand.

#include "trireme/parallel/local/round/round_action.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace trireme::parallel::local {
namespace {

TEST(RoundAction, EveryActionHasItsOwnMark) {
  std::set<std::int64_t> marks;
  for (const std::int64_t step : {0, 1, 1'000'000}) {
    for (const Occasion occasion : {Occasion::Prepare, Occasion::Round, Occasion::Arrival,
                                    Occasion::AllAtOnce, Occasion::Join}) {
      const RoundAction action{.step = step, .occasion = occasion};
      EXPECT_TRUE(marks.insert(action.mark()).second);
      EXPECT_GT(action.mark(), 0) << "0 is no mark";
    }
  }
}

TEST(RoundTurn, TellsWhatLandsAndDeparts) {
  RoundTurn turn(2);
  EXPECT_FALSE(turn.is_any());
  turn.departs[1] = true;
  EXPECT_TRUE(turn.is_any());
  EXPECT_FALSE(turn.is_any_landing());
  turn.lands[0] = true;
  EXPECT_TRUE(turn.is_any_landing());
  EXPECT_FALSE(turn.is_all_landing());
  turn.lands[1] = true;
  EXPECT_TRUE(turn.is_all_landing());
}

}  // namespace
}  // namespace trireme::parallel::local
