// Goal:   a mark in shared memory identifies the action and the step that a rank had begun, and of
//         a prepared step also its figures.
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

TEST(RoundAction, TheMarkOfAPreparedStepHoldsItsFigures) {
  const Prepared prepared{.step = 12, .figures = {1, 0, 0, 1, 1}};
  EXPECT_EQ(prepared_of(mark_of(prepared)), prepared);
  EXPECT_EQ(prepared_of(RoundAction{.step = 12}.mark()).step, -1) << "the end of a round";
  EXPECT_EQ(prepared_of(0).step, -1);
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
