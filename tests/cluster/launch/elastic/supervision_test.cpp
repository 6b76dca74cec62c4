// Goal:   the right decision follows the end of a worker: replacements, restarts of the job,
//         bounds.
// Method: the state machine with an artificial clock.

#include "trireme/cluster/launch/elastic/supervision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;
using Kind = Decision::Kind;

class SupervisionTest : public ::testing::Test {
 protected:
  void begin(int count, Elastic elastic = {}) {
    supervision_.emplace(elastic, count);
    start(count);
  }
  void start(int count) {
    for (int i = 0; i < count; ++i) supervision_->on_started(next_++, now_);
  }
  void die(int worker, bool is_refusal = false) { supervision_->on_died(worker, is_refusal, now_); }
  void set_members(const std::set<int>& members) {
    stored_ = members;
    supervision_->set_members(members, now_);
  }
  // The decision after the settle time; reads the members again if requested, and starts the
  // workers that it requests.
  Decision settle() {
    now_ += Supervision::kSettleTime;
    Decision decision = supervision_->decide(now_);
    if (decision.kind == Kind::Confirm) {
      supervision_->confirm_members(stored_, now_);
      decision = supervision_->decide(now_);
    }
    const bool is_start = decision.kind == Kind::Start || decision.kind == Kind::Restart;
    if (is_start) start(decision.count);
    return decision;
  }

  std::optional<Supervision> supervision_;
  std::set<int> stored_;  // the members in the store
  TimePoint now_{100s};
  int next_ = 0;
};

TEST_F(SupervisionTest, DeadWorkersAreReplacedAfterTheSettleTime) {
  begin(4);
  EXPECT_EQ(supervision_->decide(now_).kind, Kind::Wait);
  now_ += 10s;
  die(1);
  EXPECT_EQ(supervision_->decide(now_).kind, Kind::Wait) << "more deaths may follow";
  now_ += 10ms;
  die(3);
  EXPECT_EQ(supervision_->next().when(), now_ + Supervision::kSettleTime);
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::Start);
  EXPECT_EQ(decision.count, 2);
  EXPECT_EQ(supervision_->alive(), 4);
  EXPECT_TRUE(supervision_->next().is_never());
  EXPECT_EQ(settle().kind, Kind::Wait);
}

TEST_F(SupervisionTest, TheJobRestartsWhenAllWorkersAreDead) {
  begin(3);
  now_ += 10s;
  for (int worker : {0, 1, 2}) die(worker);
  EXPECT_FALSE(supervision_->is_over());
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::Restart);
  EXPECT_EQ(decision.count, 3);
}

TEST_F(SupervisionTest, TheJobRestartsIfOnlyWaitingWorkersAreAlive) {
  begin(2);
  set_members({0, 1});
  now_ += 10s;
  die(0);
  EXPECT_EQ(settle().kind, Kind::Start);
  die(1);
  EXPECT_EQ(settle().kind, Kind::Clear) << "worker 2 has no members to join";
  die(2);
  EXPECT_EQ(settle().kind, Kind::Restart);
  EXPECT_EQ(supervision_->alive(), 2);
  set_members({3, 4});
  die(3);
  EXPECT_EQ(settle().kind, Kind::Start);
}

// Otherwise the replacements would wait for members that no longer exist.
TEST_F(SupervisionTest, TheJobRestartsWhenTheMembersBecomeKnownAfterTheirDeaths) {
  begin(2);
  now_ += 10s;
  die(0);
  EXPECT_EQ(settle().kind, Kind::Start);
  die(1);
  EXPECT_EQ(settle().kind, Kind::Start) << "workers 0 and 1 are not known to be the members";
  set_members({0, 1});
  EXPECT_EQ(supervision_->next().when(), now_ + Supervision::kSettleTime);
  EXPECT_EQ(settle().kind, Kind::Clear);
  die(2);
  die(3);
  EXPECT_EQ(settle().kind, Kind::Restart);
}

TEST_F(SupervisionTest, AMemberThatIsNotKnownYetIsNotKilled) {
  begin(2);
  set_members({0, 1});
  now_ += 10s;
  die(0);
  EXPECT_EQ(settle().kind, Kind::Start);
  stored_ = {1, 2};
  die(1);
  EXPECT_EQ(settle().kind, Kind::Start) << "worker 2 holds the training state";
  EXPECT_EQ(supervision_->alive(), 2);
}

TEST_F(SupervisionTest, MembersReadBeforeADeathConfirmNothing) {
  begin(3);
  set_members({0});
  now_ += 10s;
  die(0);
  now_ += Supervision::kSettleTime;
  EXPECT_EQ(supervision_->decide(now_).kind, Kind::Confirm);
  EXPECT_EQ(supervision_->decide(now_).kind, Kind::Wait);
  die(1);
  supervision_->confirm_members({0}, now_);
  EXPECT_EQ(supervision_->decide(now_).kind, Kind::Confirm);
  supervision_->confirm_members({0}, now_);
  EXPECT_EQ(supervision_->decide(now_).kind, Kind::Clear);
}

TEST_F(SupervisionTest, NoWorkerIsReplacedAfterTheFirstFinished) {
  begin(3);
  now_ += 10s;
  supervision_->on_finished(1);
  EXPECT_TRUE(supervision_->is_done());
  die(0);
  EXPECT_EQ(settle().kind, Kind::Wait);
  EXPECT_FALSE(supervision_->is_over());
  supervision_->on_finished(2);
  EXPECT_TRUE(supervision_->is_over());
}

TEST_F(SupervisionTest, AWorkerThatJoinsAfterTheTrainingEndedIsCleared) {
  begin(2);
  set_members({0, 1});
  now_ += 10s;
  die(0);
  EXPECT_EQ(settle().kind, Kind::Start);
  set_members({1});
  supervision_->on_finished(1);
  EXPECT_TRUE(supervision_->is_done());
  EXPECT_EQ(settle().kind, Kind::Clear) << "worker 2 has no members to join";
  EXPECT_EQ(settle().kind, Kind::Wait);
  die(2);
  EXPECT_EQ(settle().kind, Kind::Wait);
  EXPECT_TRUE(supervision_->is_over());
}

TEST_F(SupervisionTest, ADismissedWorkerIsNotReplacedAndDoesNotEndTheJob) {
  begin(4);
  supervision_->set_wanted(2);
  EXPECT_EQ(settle().kind, Kind::Wait);
  supervision_->on_finished(3);
  supervision_->on_finished(2);
  EXPECT_FALSE(supervision_->is_done());
  EXPECT_EQ(settle().kind, Kind::Wait);
  now_ += 10s;
  die(1);
  EXPECT_EQ(settle().count, 1) << "a dead worker that is still wanted is replaced";
  supervision_->on_finished(0);
  EXPECT_TRUE(supervision_->is_done());
}

TEST_F(SupervisionTest, GrowingTheJobStartsWorkersAndIsNotARestart) {
  begin(1, {.restarts_max = 0});
  supervision_->set_wanted(3);
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::Start);
  EXPECT_EQ(decision.count, 2);
  EXPECT_EQ(settle().kind, Kind::Wait);
}

TEST_F(SupervisionTest, UnboundedRestartsAreNeverACrashLoop) {
  begin(2, {.restarts_max = RestartLimit::kUnbounded});
  for (int round = 0; round < 10; ++round) {
    die(next_ - 1);
    EXPECT_EQ(settle().kind, Kind::Start) << round;
  }
}

TEST_F(SupervisionTest, ThreeQuickDeathsInARowAreACrashLoop) {
  begin(2);
  now_ += 10s;
  for (int round = 0; round < 2; ++round) {
    die(next_ - 1);
    EXPECT_EQ(settle().kind, Kind::Start) << round;
    now_ += 1200ms;
  }
  die(next_ - 1);
  EXPECT_EQ(settle().kind, Kind::Start) << "the first of them had run for long";
  now_ += 1200ms;
  die(next_ - 1);
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::End);
  EXPECT_EQ(decision.why, "crash loop: worker 4 died 1.2 s after its start, the third in a row");
  EXPECT_EQ(settle().kind, Kind::Wait);
  die(0);
  EXPECT_TRUE(supervision_->is_over());
}

TEST_F(SupervisionTest, SimultaneousDeathsCountOnceForACrashLoop) {
  begin(4);
  now_ += 1s;
  for (int worker : {1, 2, 3}) die(worker);
  EXPECT_EQ(settle().count, 3);
  now_ += 6s;
  for (int worker : {4, 5, 6}) die(worker);
  EXPECT_EQ(settle().count, 3) << "workers that ran for longer reset the count";
  now_ += 1s;
  for (int worker : {7, 8}) die(worker);
  EXPECT_EQ(settle().count, 2);
}

TEST_F(SupervisionTest, AWorkerThatDoesNotJoinIsKilledAndReplaced) {
  begin(2, {.join_max = 16s});
  const TimePoint started = now_;
  supervision_->set_announced({0}, started + 15s);
  EXPECT_EQ(supervision_->decide(now_ = started + 1h).kind, Kind::Wait)
      << "the store has not reported since";
  // Worker 0's record is gone for a moment: it has joined.
  supervision_->set_announced({}, started + 16s);
  const Decision decision = supervision_->decide(now_);
  ASSERT_EQ(decision.kind, Kind::Kill);
  EXPECT_EQ(decision.workers, std::set<int>{1});
  EXPECT_THAT(decision.why, ::testing::HasSubstr("did not join the job within 16.0 s"));
  supervision_->set_announced({0}, started + 17s);
  EXPECT_EQ(supervision_->decide(now_).kind, Kind::Wait) << "it is being killed";
  die(1);
  EXPECT_EQ(settle().kind, Kind::Start);
  set_members({0, 2});
  supervision_->set_announced({}, now_ + 1h);
  EXPECT_EQ(supervision_->decide(now_).kind, Kind::Wait) << "members have joined";
}

TEST_F(SupervisionTest, ThreeWorkersInARowThatDoNotJoinAreACrashLoop) {
  begin(2, {.join_max = 16s});
  for (const int worker : {1, 2, 3}) {
    supervision_->set_announced({0}, now_ += 17s);
    EXPECT_EQ(supervision_->decide(now_).workers, std::set<int>{worker});
    die(worker);
    if (worker < 3) {
      EXPECT_EQ(settle().kind, Kind::Start);
    }
  }
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::End);
  EXPECT_EQ(decision.why,
            "crash loop: worker 3 had not joined 17.0 s after its start, the third in a row");
}

TEST_F(SupervisionTest, RestartsAreBoundedWithinAWindow) {
  begin(2, {.restarts_max = 2, .restart_window = 1min});
  for (int i = 0; i < 4; ++i) {
    now_ += 31s;
    die(next_ - 1);
    EXPECT_EQ(settle().kind, Kind::Start) << i;
  }
  now_ += 6s;
  die(next_ - 1);
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::End);
  EXPECT_THAT(decision.why, ::testing::HasSubstr("restarts used up: 2 within 60.0 s"));
}

TEST_F(SupervisionTest, TheJobEndsIfAWorkerRefusesTheInput) {
  begin(3);
  die(1, true);
  EXPECT_EQ(settle().why, "a worker failed for a reason that a replacement would meet again");
}

TEST_F(SupervisionTest, ANewWorkerThatRefusesIsReplacedWhileMembersTrain) {
  begin(2);
  set_members({0});
  die(1, true);
  EXPECT_EQ(settle().kind, Kind::Wait) << "the others may meet the same reason";
  EXPECT_TRUE(supervision_->has_undecided_deaths());
  now_ += Supervision::kRefusalTime;
  EXPECT_EQ(settle().kind, Kind::Start);
  EXPECT_FALSE(supervision_->has_undecided_deaths());
}

TEST_F(SupervisionTest, TheJobDoesNotRestartIfAllMembersRefuse) {
  begin(2);
  set_members({0, 1});
  die(0, true);
  now_ += Supervision::kRefusalTime / 2;
  EXPECT_EQ(settle().kind, Kind::Wait) << "no replacement would help";
  die(1, true);
  EXPECT_EQ(settle().why, "every worker failed for a reason that a replacement would meet again");
}

TEST_F(SupervisionTest, ALeavingWorkerDoesNotEndTheTraining) {
  begin(4);
  supervision_->set_wanted(2);
  EXPECT_EQ(settle().kind, Kind::Wait);
  // More workers are wanted again before the dismissed workers have left.
  supervision_->set_wanted(3);
  supervision_->on_left(2, now_);
  supervision_->on_left(3, now_);
  EXPECT_FALSE(supervision_->is_done());
  EXPECT_EQ(settle().count, 1);
  supervision_->on_finished(0);
  EXPECT_TRUE(supervision_->is_done());
}

// A worker that is asked to end before it was admitted leaves like this.
TEST_F(SupervisionTest, AWorkerThatLeavesUnrequestedIsReplaced) {
  begin(3);
  set_members({0, 1});
  supervision_->on_left(2, now_);
  EXPECT_FALSE(supervision_->is_done());
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::Start);
  EXPECT_EQ(decision.count, 1);
}

TEST_F(SupervisionTest, TheJobRestartsWhenTheLastWorkerLeaves) {
  begin(2, {.restarts_max = 1});
  for (int worker : {0, 1}) supervision_->on_left(worker, now_);
  EXPECT_FALSE(supervision_->is_over());
  Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::Restart);
  EXPECT_EQ(decision.count, 2);
  for (int worker : {2, 3}) supervision_->on_left(worker, now_);
  decision = settle();
  EXPECT_EQ(decision.kind, Kind::End) << "such restarts are bounded, too";
  EXPECT_TRUE(supervision_->is_over());
}

TEST_F(SupervisionTest, WorkersOfALostHostAreNotReplacedElsewhere) {
  begin(4);
  set_members({0, 1, 2, 3});
  now_ += 10s;
  for (int worker : {2, 3}) supervision_->on_unreachable(worker);
  supervision_->set_room(2, now_);
  EXPECT_EQ(settle().kind, Kind::Wait);
  EXPECT_EQ(supervision_->alive(), 2);
  // One worker comes back; the other turns out to be dead, which does not count as a restart.
  supervision_->on_found(2, now_);
  supervision_->on_gone(3, now_);
  supervision_->set_room(4, now_);
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::Start);
  EXPECT_EQ(decision.count, 1);
}

TEST_F(SupervisionTest, TheJobDoesNotRestartWhileAMemberMayBeAlive) {
  begin(4);
  set_members({0, 1, 2, 3});
  now_ += 10s;
  for (int worker : {2, 3}) supervision_->on_unreachable(worker);
  supervision_->set_room(2, now_);
  for (int worker : {0, 1}) die(worker);
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::Start) << "the new workers join 2 and 3";
  EXPECT_EQ(decision.count, 2);
  supervision_->on_gone(2, now_);
  EXPECT_EQ(settle().kind, Kind::Wait);
  supervision_->on_gone(3, now_);
  EXPECT_EQ(settle().kind, Kind::Clear) << "the new workers have no members to join";
  for (int worker : {4, 5}) die(worker);
  EXPECT_EQ(settle().kind, Kind::Restart);
}

// A death while a host was unreachable is reported when the host is back.
TEST_F(SupervisionTest, WorkersThatDiedOnAnUnreachableHostAreCounted) {
  begin(2);
  set_members({0, 1});
  now_ += 10s;
  for (int worker : {0, 1}) supervision_->on_unreachable(worker);
  EXPECT_EQ(supervision_->unreachable(), 2);
  for (int worker : {0, 1}) die(worker);
  EXPECT_EQ(supervision_->unreachable(), 0);
  EXPECT_EQ(settle().kind, Kind::Restart);
}

// Workers that were about to join, and live on an unreachable host, would join the restarted job
// without knowing that it resumes.
TEST_F(SupervisionTest, TheJobDoesNotRestartWhileAWaitingWorkerMayBeAlive) {
  begin(4);
  set_members({0, 1});
  now_ += 10s;
  for (int worker : {2, 3}) supervision_->on_unreachable(worker);
  for (int worker : {0, 1}) die(worker);
  EXPECT_EQ(settle().kind, Kind::Wait);
  supervision_->on_found(2, now_);
  EXPECT_EQ(settle().kind, Kind::Clear);
  die(2);
  EXPECT_EQ(settle().kind, Kind::Wait);
  supervision_->on_gone(3, now_);
  EXPECT_EQ(settle().kind, Kind::Restart);
}

TEST_F(SupervisionTest, WithoutHostsTheJobWaitsForOne) {
  begin(2, {.restarts_max = 1});
  now_ += 10s;
  for (int worker : {0, 1}) supervision_->on_unreachable(worker);
  supervision_->set_room(0, now_);
  for (int worker : {0, 1}) supervision_->on_gone(worker, now_);
  EXPECT_EQ(settle().kind, Kind::Wait);
  EXPECT_FALSE(supervision_->is_over());
  supervision_->set_room(1, now_);
  const Decision decision = settle();
  EXPECT_EQ(decision.kind, Kind::Restart);
  EXPECT_EQ(decision.count, 1);
  supervision_->set_room(2, now_);
  EXPECT_EQ(settle().count, 1) << "the second worker starts once there is room";
}

}  // namespace
}  // namespace trireme::cluster::launch
