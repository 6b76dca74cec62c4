// Goal:   only a worker that blocks others is stuck: not one that waits itself, makes progress, or
//         is in a declared long phase, and none while all workers compute. A worker for which none
//         waits finds out by itself that it is stuck.
// Method: simulated time; two observations per second of the workers' reports.

#include "trireme/cluster/liveness/stall_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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
      const auto why = ledger_->look(kSuspect, suspect, self, now_);
      if (!why) continue;
      why_ = *why;
      return now_ - begin;
    }
    return std::nullopt;
  }

  // The same for this worker itself.
  std::optional<Duration> watch_self(Duration length, const Report& self) {
    for (const TimePoint begin = now_; now_ - begin < length;) {
      now_ += kInterval;
      const auto why = ledger_->look_at_self(self, now_);
      if (!why) continue;
      why_ = *why;
      return now_ - begin;
    }
    return std::nullopt;
  }
  void begin(const StallConfig& config) { ledger_.emplace(config, kInterval); }

  std::optional<StallLedger> ledger_{std::in_place, StallConfig{.minimum = 10s}, kInterval};
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

TEST_F(StallLedgerTest, LongStepsOfTheOtherWorkersRaiseTheLimit) {
  Report self = waiting_;
  self.step = 6s;
  ledger_->look(2, {.moves = 1, .is_waiting = true, .step = 8s}, self, now_);
  ledger_->look(3, {.moves = 1, .is_waiting = true, .step = 5s}, self, now_);
  const auto after = watch(1h, computing_, self);
  ASSERT_TRUE(after);
  EXPECT_GE(*after, 60s);
  EXPECT_LE(*after, 61s);
}

TEST_F(StallLedgerTest, AHugeFactorMeansNever) {
  begin({.minimum = 10s, .factor = 1e12});
  EXPECT_FALSE(watch(1h, computing_, waiting_));
}

// A worker that stalled and died does not count among those that stall.
TEST_F(StallLedgerTest, AForgottenWorkerDoesNotCountAsStalled) {
  ledger_->look(2, computing_, waiting_, now_);
  EXPECT_FALSE(watch(9s, {.moves = 1, .is_waiting = true}, waiting_));
  for (int i = 0; i < 18; ++i) ledger_->look(2, computing_, waiting_, now_ += kInterval);
  EXPECT_GE(ledger_->stalled(2), 8s);
  ledger_->forget(2);
  EXPECT_TRUE(watch(11s, computing_, waiting_));
}

TEST_F(StallLedgerTest, AWorkerThatWaitsForAnotherIsNeverStuck) {
  EXPECT_FALSE(watch(1h, {.moves = 4, .is_waiting = true, .step = 100ms}, waiting_));
}

TEST_F(StallLedgerTest, AWorkerInADeclaredLongPhaseIsNotStuckButItsStallIsKnown) {
  EXPECT_FALSE(watch(1h, {.moves = 4, .is_in_long_phase = true, .step = 100ms}, waiting_));
  EXPECT_GE(ledger_->stalled(kSuspect), 59min);
}

TEST_F(StallLedgerTest, NoWorkerIsStuckWhileThisWorkerComputes) {
  EXPECT_FALSE(watch(1h, computing_, {.moves = 3, .step = 100ms}));
  // The time before it started to wait does not count.
  EXPECT_GE(watch(1h, computing_, waiting_).value_or(0s), 10s);
}

// Three workers, two of which wait for a batch from the same storage.
TEST_F(StallLedgerTest, WhileMostWorkersStallTheLimitIsLonger) {
  const auto watch_both = [&](Duration length, const Report& other) {
    std::set<int> stuck;
    for (const TimePoint begin = now_; now_ - begin < length; now_ += kInterval) {
      if (ledger_->look(2, other, waiting_, now_)) stuck.insert(2);
      if (ledger_->look(kSuspect, computing_, waiting_, now_)) stuck.insert(kSuspect);
    }
    return stuck;
  };
  EXPECT_THAT(watch_both(StallLedger::kCommon * 10s - 1s, computing_), IsEmpty());
  // As soon as one of them makes progress, the other is stuck.
  EXPECT_THAT(watch_both(1s, waiting_), ElementsAre(kSuspect));
  EXPECT_THAT(watch_both(11s, {.moves = 4, .is_in_long_phase = true}), ElementsAre(kSuspect));
  const Report other{.moves = 5};
  EXPECT_THAT(watch_both(StallLedger::kCommon * 10s - 3s, other), IsEmpty());
  EXPECT_THAT(watch_both(5s, other), ElementsAre(2, kSuspect));
}

// Every sample is taken in a moment in which neither worker is in its waiting scope.
TEST_F(StallLedgerTest, AWaitBetweenTwoObservationsCounts) {
  const auto watch_waits = [&](Report suspect, Report self, std::uint64_t suspect_waits) {
    for (int i = 0; i < 100; ++i) {
      suspect.waits += suspect_waits;
      ++self.waits;
      if (ledger_->look(kSuspect, suspect, self, now_ += kInterval)) return i * kInterval;
    }
    return Duration{};
  };
  const Report self{.moves = 9, .step = 100ms};
  EXPECT_EQ(watch_waits(computing_, self, 1), 0s) << "the suspect waits itself";
  EXPECT_EQ(watch_waits(computing_, self, 0), 10s) << "this worker waits for the suspect";
}

TEST_F(StallLedgerTest, AWorkerForWhichNoneWaitsIsStuckAfterItsOwnLimit) {
  begin({.minimum = 10s, .step_max = 60s, .phase_max = 300s});
  const auto after = watch_self(1h, computing_);
  ASSERT_TRUE(after);
  EXPECT_GE(*after, 60s);
  EXPECT_LE(*after, 61s);
  EXPECT_THAT(why_, HasSubstr("no progress for 60.0 s and waits for no other worker"));
  EXPECT_GE(watch_self(1h, {.moves = 5, .step = 20s}).value_or(0s), 200s)
      << "long steps raise its limit";
  EXPECT_GE(watch_self(1h, {.moves = 6, .is_in_long_phase = true}).value_or(0s), 300s);
  EXPECT_FALSE(watch_self(1h, waiting_));
  begin({.minimum = 10s});
  EXPECT_FALSE(watch_self(1h, computing_)) << "without step_max there is no limit";
}

TEST_F(StallLedgerTest, ProgressResetsTheStallTime) {
  Report moving = computing_;
  for (int i = 0; i < 100; ++i, ++moving.moves) EXPECT_FALSE(watch(9s, moving, waiting_));
  Report self = waiting_;
  for (int i = 0; i < 100; ++i, ++self.moves) EXPECT_FALSE(watch(9s, computing_, self));
}

TEST_F(StallLedgerTest, TimeWithoutObservationsDoesNotCount) {
  EXPECT_FALSE(watch(5s, computing_, waiting_));
  now_ += 1h;
  EXPECT_FALSE(watch(3s, computing_, waiting_));
  EXPECT_TRUE(watch(3s, computing_, waiting_));
}

TEST_F(StallLedgerTest, AMinimumOfZeroTurnsItOff) {
  begin({.minimum = 0s});
  EXPECT_FALSE(watch(1h, computing_, waiting_));
  ledger_->forget(kSuspect);
  EXPECT_EQ(ledger_->stalled(kSuspect), 0s);
}

}  // namespace
}  // namespace trireme::cluster
