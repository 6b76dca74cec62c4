// Goal:   a round ends after its number of steps, which a schedule can change, or by time or
//         distance; if only steps count, a resumed job ends its rounds where the first job did.
// Method: lists of the last steps of rounds; a simulated clock.

#include "trireme/parallel/local/round/round_end.h"

#include <gtest/gtest.h>

#include <vector>

#include "trireme/base/error.h"
#include "trireme/testing/simulated_clock.h"

namespace trireme::parallel::local {
namespace {

std::vector<std::int64_t> last_steps(const RoundSettings& pace, std::int64_t from,
                                     std::int64_t to) {
  RoundEnd end(pace);
  std::vector<std::int64_t> found;
  for (std::int64_t step = from; step < to; ++step) {
    end.begin_step(step);
    if (!end.is_last(step)) continue;
    found.push_back(step);
    end.ended(step);
  }
  return found;
}

using Steps = std::vector<std::int64_t>;

TEST(RoundEnd, ComesAfterTheNumberOfSteps) {
  EXPECT_EQ(last_steps({.steps = 1}, 0, 3), (Steps{0, 1, 2}));
  EXPECT_EQ(last_steps({.steps = 3}, 0, 10), (Steps{2, 5, 8}));
  EXPECT_EQ(last_steps({.steps = 3, .begin = 4}, 0, 12), (Steps{6, 9}));
  RoundEnd never({.steps = INT64_MAX, .end = {.divergence = 1}});
  never.begin_step(0);
  never.ended(7);
  EXPECT_FALSE(never.is_last(8));
}

TEST(RoundEnd, AScheduleChangesRoundsThatBeginLater) {
  const RoundSettings pace{.steps = 2, .end = {.schedule = {"5=4", "11=1"}}};
  // The round that begins with step 4 still has two steps, and the one of step 10 has four.
  EXPECT_EQ(last_steps(pace, 0, 17), (Steps{1, 3, 5, 9, 13, 14, 15, 16}));
}

TEST(RoundEnd, AResumedJobEndsItsRoundsWhereTheFirstJobDid) {
  const RoundSettings pace{.steps = 2, .end = {.schedule = {"5=4", "11=1"}}};
  const Steps whole = last_steps(pace, 0, 20);
  for (std::int64_t from = 0; from < 20; ++from) {
    Steps rest;
    for (const std::int64_t step : whole) {
      if (step >= from) rest.push_back(step);
    }
    EXPECT_EQ(last_steps(pace, from, 20), rest) << from;
  }
}

TEST(RoundEnd, EachFragmentIsSynchronizedOncePerRound) {
  const auto turns = [](std::int64_t steps, std::int64_t index, std::int64_t count) {
    RoundEnd end({.steps = steps, .begin = 1});
    Steps found;
    for (std::int64_t step = 1; step < 13; ++step) {
      end.begin_step(step);
      if (end.is_turn(step, index, count)) found.push_back(step);
      if (end.is_last(step)) end.ended(step);
    }
    return found;
  };
  EXPECT_EQ(turns(6, 0, 3), (Steps{2, 8}));
  EXPECT_EQ(turns(6, 1, 3), (Steps{4, 10}));
  EXPECT_EQ(turns(6, 2, 3), (Steps{6, 12}));
  EXPECT_EQ(turns(5, 0, 2), (Steps{3, 8}));
  EXPECT_EQ(turns(4, 0, 1), (Steps{4, 8, 12}));
  // With more fragments than steps, several are synchronized in a step, but each only once.
  for (std::int64_t index = 0; index < 5; ++index) EXPECT_EQ(turns(2, index, 5).size(), 6u);
  EXPECT_EQ(turns(INT64_MAX, 0, 2), Steps{});
}

TEST(RoundEnd, TimeAndDistanceAreVotes) {
  testing::SimulatedClock clock;
  RoundEnd timed({.steps = 100, .end = {.seconds = 2}}, clock);
  EXPECT_TRUE(timed.is_asked_for());
  timed.begin_step(0);
  EXPECT_FALSE(timed.is_wanted(1e9));
  clock.advance(std::chrono::seconds(2));
  EXPECT_TRUE(timed.is_wanted(0));
  timed.ended(7);
  EXPECT_FALSE(timed.is_wanted(0)) << "the time of the next round starts again";
  EXPECT_FALSE(timed.is_last(106));
  EXPECT_TRUE(timed.is_last(107)) << "a hundred steps after the last round ended";

  RoundEnd far({.steps = 100, .end = {.divergence = 0.5}}, clock);
  far.begin_step(0);
  EXPECT_TRUE(far.needs_distance());
  EXPECT_FALSE(far.is_wanted(0.49));
  EXPECT_TRUE(far.is_wanted(0.5));
}

TEST(RoundEnd, InvalidSchedulesAreRejected) {
  EXPECT_EQ(complaint_of_schedule({}), "");
  EXPECT_EQ(complaint_of_schedule({"0=1", "10=4"}), "");
  for (const char* wrong : {"", "10", "=4", "10=", "10=0", "-1=4", "ten=4", "10=4 ", "1e3=4"}) {
    EXPECT_NE(complaint_of_schedule({wrong}), "") << wrong;
  }
  EXPECT_NE(complaint_of_schedule({"10=4", "10=8"}), "");
  EXPECT_THROW(RoundEnd({.steps = 1, .end = {.schedule = {"x"}}}), Error);
}

TEST(RoundEnd, TheShortestRoundIsOneThatOccurs) {
  EXPECT_EQ(shortest_round(7, {}), 7);
  EXPECT_EQ(shortest_round(7, {"10=9"}), 7);
  EXPECT_EQ(shortest_round(7, {"10=9", "20=3"}), 3);
  EXPECT_EQ(shortest_round(7, {"0=9"}), 9);
  EXPECT_EQ(shortest_round(7, {"0=9", "5=8"}), 8);
}

}  // namespace
}  // namespace trireme::parallel::local
