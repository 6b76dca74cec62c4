// Goal:   only a worker that blocks others is stuck: not one that waits itself, makes progress, or
//         is in a declared long phase, and none while all workers compute.
// Method: simulated time; two observations per second of the workers' reports.

#include "trireme/cluster/liveness/stall_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Report = Liveness::Report;

constexpr Duration kInterval = 500ms;
constexpr int kSuspect = 7;

class StallLedgerTest : public ::testing::Test {
 protected:
  // Observes for `length`, or until the suspect is reported as stuck; returns after how long that
  // was.
  std::optional<Duration> watch(Duration length, const Report& suspect, const Report& self) {
    for (const TimePoint begin = now_; now_ - begin < length;) {
      now_ += kInterval;
      const auto why = ledger_.look(kSuspect, suspect, self, now_);
      if (!why) continue;
      why_ = *why;
      return now_ - begin;
    }
    return std::nullopt;
  }

  StallLedger ledger_{{.minimum = 10s, .factor = 10}, kInterval};
  TimePoint now_{100s};
  std::string why_;
  const Report computing_{.moves = 4, .step = 100ms};
  const Report waiting_{.moves = 9, .is_waiting = true, .step = 100ms};
};

TEST_F(StallLedgerTest, AWorkerThatOthersWaitForIsStuckAfterTheMinimum) {
  const auto after = watch(1h, computing_, waiting_);
  ASSERT_TRUE(after);
  EXPECT_GE(*after, 10s);
  EXPECT_LE(*after, 11s);
  EXPECT_THAT(why_, HasSubstr("no progress for 10.0 s (limit 10.0 s"));
  EXPECT_THAT(why_, HasSubstr("elastic.stall_minimum"));
}

TEST_F(StallLedgerTest, LongStepsOfTheOthersRaiseTheLimit) {
  Report self = waiting_;
  self.step = 6s;
  ledger_.look(2, {.moves = 1, .is_waiting = true, .step = 8s}, self, now_);
  ledger_.look(3, {.moves = 1, .is_waiting = true, .step = 5s}, self, now_);
  const auto after = watch(1h, computing_, self);
  ASSERT_TRUE(after);
  EXPECT_GE(*after, 60s);
  EXPECT_LE(*after, 61s);
}

TEST_F(StallLedgerTest, AHugeFactorMeansNever) {
  ledger_ = StallLedger({.minimum = 10s, .factor = 1e12}, kInterval);
  EXPECT_FALSE(watch(1h, computing_, waiting_));
}

// A worker that stalled and died does not count among those that stall.
TEST_F(StallLedgerTest, AForgottenStallIsNotCommon) {
  ledger_.look(2, computing_, waiting_, now_);
  EXPECT_FALSE(watch(9s, {.moves = 1, .is_waiting = true}, waiting_));
  for (int i = 0; i < 18; ++i) ledger_.look(2, computing_, waiting_, now_ += kInterval);
  EXPECT_GE(ledger_.stalled(2), 8s);
  ledger_.forget(2);
  EXPECT_TRUE(watch(11s, computing_, waiting_));
}

TEST_F(StallLedgerTest, AWorkerThatWaitsForAnotherIsNeverStuck) {
  EXPECT_FALSE(watch(1h, {.moves = 4, .is_waiting = true, .step = 100ms}, waiting_));
}

TEST_F(StallLedgerTest, ADeclaredLongPhaseIsNotStuckButKnown) {
  EXPECT_FALSE(watch(1h, {.moves = 4, .is_in_long_phase = true, .step = 100ms}, waiting_));
  EXPECT_GE(ledger_.stalled(kSuspect), 59min);
}

TEST_F(StallLedgerTest, NobodyIsStuckWhileThisWorkerComputesToo) {
  EXPECT_FALSE(watch(1h, computing_, {.moves = 3, .step = 100ms}));
  // The time before it started to wait does not count.
  EXPECT_GE(watch(1h, computing_, waiting_).value_or(0s), 10s);
}

// Three workers, two of which wait for a batch from the same storage.
TEST_F(StallLedgerTest, NoneIsStuckWhileMostWorkersStall) {
  const auto watch_both = [&](Duration length, const Report& other) {
    bool is_stuck = false;
    for (const TimePoint begin = now_; now_ - begin < length; now_ += kInterval) {
      is_stuck |= ledger_.look(2, other, waiting_, now_).has_value();
      is_stuck |= ledger_.look(kSuspect, computing_, waiting_, now_).has_value();
    }
    return is_stuck;
  };
  EXPECT_FALSE(watch_both(1h, computing_));
  // As soon as one of them makes progress, the other is stuck.
  EXPECT_TRUE(watch_both(1s, waiting_));
  EXPECT_TRUE(watch_both(1h, {.moves = 4, .is_in_long_phase = true}));
}

TEST_F(StallLedgerTest, EachMoveBeginsAnew) {
  Report moving = computing_;
  for (int i = 0; i < 100; ++i, ++moving.moves) EXPECT_FALSE(watch(9s, moving, waiting_));
  Report self = waiting_;
  for (int i = 0; i < 100; ++i, ++self.moves) EXPECT_FALSE(watch(9s, computing_, self));
}

TEST_F(StallLedgerTest, TimeInWhichNobodyLookedDoesNotCount) {
  EXPECT_FALSE(watch(5s, computing_, waiting_));
  now_ += 1h;
  EXPECT_FALSE(watch(3s, computing_, waiting_));
  EXPECT_TRUE(watch(3s, computing_, waiting_));
}

TEST_F(StallLedgerTest, AMinimumOfZeroTurnsItOff) {
  ledger_ = StallLedger({.minimum = 0s, .factor = 10}, kInterval);
  EXPECT_FALSE(watch(1h, computing_, waiting_));
  ledger_.forget(kSuspect);
  EXPECT_EQ(ledger_.stalled(kSuspect), 0s);
}

}  // namespace
}  // namespace trireme::cluster
