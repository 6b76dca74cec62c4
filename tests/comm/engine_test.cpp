// Goal:   the engine makes progress on every operation of a rank inside any wait, by priority, and
//         ends operations in time when they are done, aborted, late or failed on another rank.
// Method: a backend whose tasks wait for flags of the test, and a source that records its sleeps.
//         The clock is real, so durations are asserted generously or by the arguments of the
//         source.

#include "trireme/comm/engine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/comm/fake_backend.h"
#include "trireme/comm/backend.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

Task wait_for(const std::atomic<bool>& flag) {
  co_await until([&] { return flag.load(); });
}

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() { engine_->add_source(source_); }

  std::shared_ptr<Activity> start(Task task, int priority = 0, Deadline deadline = soon(),
                                  std::shared_ptr<Fate> fate = nullptr) {
    auto activity = std::make_shared<Activity>();
    activity->op.request.kind = OpKind::AllReduce;
    activity->op.sequence = ++sequence_;
    activity->op.label = "bucket 2";
    activity->op.priority = priority;
    activity->op.deadline = deadline;
    activity->backend = backend_;
    activity->fate = fate ? fate : fate_;
    activity->task = std::move(task);
    engine_->start(activity);
    return activity;
  }
  Error error_of(Activity& activity) {
    try {
      engine_->wait(activity);
    } catch (const Error& error) {
      return error;
    }
    return Error(ErrorCode::Misuse, "nothing was thrown");
  }
  // Late enough that a test that reaches it has failed, early enough that the test ends.
  static Deadline soon() { return Deadline::after(30s); }

  std::shared_ptr<FakeBackend> backend_ = std::make_shared<FakeBackend>();
  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
  std::shared_ptr<Engine> engine_ = std::make_shared<Engine>(Engine::Options{.spin = 10us});
  std::shared_ptr<Fate> fate_ = std::make_shared<Fate>();
  std::atomic<bool> flag_{false};
  std::uint64_t sequence_ = 0;
};

TEST_F(EngineTest, AnOperationThatNeedNotWaitIsDoneAtItsStart) {
  flag_ = true;
  const auto activity = start(wait_for(flag_));
  EXPECT_TRUE(activity->done);
  engine_->wait(*activity);
  EXPECT_TRUE(engine_->test(*activity));
  EXPECT_EQ(source_->sleeps(), 0);
}

TEST_F(EngineTest, TestMovesWithoutWaiting) {
  const auto activity = start(wait_for(flag_));
  EXPECT_FALSE(engine_->test(*activity));
  flag_ = true;
  EXPECT_TRUE(engine_->test(*activity));
  EXPECT_EQ(source_->sleeps(), 0);
}

TEST_F(EngineTest, WaitingForOneMovesAllOthers) {
  std::vector<int> passed;
  std::vector<std::shared_ptr<Activity>> others;
  const auto note = [&](int id) -> Task {
    co_await until([&] { return flag_.load(); });
    passed.push_back(id);
  };
  for (int id = 0; id < 3; ++id) others.push_back(start(note(id)));
  const auto last = start(note(3));
  flag_ = true;
  engine_->wait(*last);
  EXPECT_EQ(passed, (std::vector<int>{0, 1, 2, 3}));
  for (const auto& other : others) EXPECT_TRUE(other->done);
}

TEST_F(EngineTest, TheHighestPriorityMovesFirstThenTheOldest) {
  std::vector<int> passed;
  const auto note = [&](int id) -> Task {
    co_await until([&] { return flag_.load(); });
    passed.push_back(id);
  };
  std::vector<std::shared_ptr<Activity>> all;
  const int priorities[] = {0, 5, -3, 5, 0};
  for (int id = 0; id < 5; ++id) all.push_back(start(note(id), priorities[id]));
  flag_ = true;
  engine_->wait(*all[2]);
  EXPECT_EQ(passed, (std::vector<int>{1, 3, 0, 4, 2}));
}

TEST_F(EngineTest, AWaitSleepsInTheSourceUntilItIsWoken) {
  const auto activity = start(wait_for(flag_));
  std::thread peer([&] {
    while (source_->sleeps() == 0) std::this_thread::yield();
    flag_ = true;
    source_->wake();
  });
  engine_->wait(*activity);
  peer.join();
  EXPECT_GE(source_->sleeps(), 1);
}

TEST_F(EngineTest, SourcesArePolledWhileWaiting) {
  source_->on_poll = [&, polls = 0]() mutable {
    if (++polls == 10) flag_ = true;
    return false;
  };
  const auto activity = start(wait_for(flag_));
  engine_->wait(*activity);
  EXPECT_TRUE(activity->done);
}

TEST_F(EngineTest, AnAbortFromAnotherThreadEndsASleepAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const auto fate = std::make_shared<Fate>();
    const auto activity = start(wait_for(flag_), 0, soon(), fate);
    const int before = source_->sleeps();
    std::thread other([&] {
      while (source_->sleeps() == before) std::this_thread::yield();
      engine_->abort(*fate, Error(ErrorCode::Aborted, "enough"));
    });
    const Error error = error_of(*activity);
    other.join();
    EXPECT_EQ(error.code(), ErrorCode::Aborted);
  }
}

TEST_F(EngineTest, AnAbortJustBeforeTheSleepIsNotMissed) {
  // The worst moment: the waiting thread has checked the fate and is about to sleep.
  source_->on_prepare = [&] { fate_->seal(Error(ErrorCode::Aborted, "enough")); };
  const auto activity = start(wait_for(flag_));
  EXPECT_EQ(error_of(*activity).code(), ErrorCode::Aborted);
  EXPECT_EQ(source_->sleeps(), 0);
}

TEST_F(EngineTest, AnAbortDoesNotEndOtherGroups) {
  const auto other_fate = std::make_shared<Fate>();
  const auto a = start(wait_for(flag_)), b = start(wait_for(flag_));
  const auto other = start(wait_for(flag_), 0, soon(), other_fate);
  engine_->abort(*fate_, Error(ErrorCode::Aborted, "enough"));
  EXPECT_EQ(error_of(*a).code(), ErrorCode::Aborted);
  EXPECT_EQ(error_of(*b).code(), ErrorCode::Aborted);
  EXPECT_FALSE(engine_->test(*other));
  flag_ = true;
  engine_->wait(*other);
}

TEST_F(EngineTest, TheFirstErrorIsFinal) {
  const auto a = start(wait_for(flag_));
  engine_->abort(*fate_, Error(ErrorCode::Aborted, "first"));
  engine_->abort(*fate_, Error(ErrorCode::PeerLost, "second"));
  EXPECT_EQ(error_of(*a).message(), "first");
  EXPECT_EQ(error_of(*a).message(), "first") << "every later wait repeats the error";
  EXPECT_EQ(fate_->get()->message(), "first");
}

TEST_F(EngineTest, ADeadlineErrorNamesTheMissingRank) {
  const auto late = start(wait_for(flag_), 0, Deadline::after(30ms));
  const auto other = start(wait_for(flag_));
  const TimePoint begun = steady_clock().now();
  const Error error = error_of(*late);
  const Duration waited = steady_clock().now() - begun;
  EXPECT_EQ(error.code(), ErrorCode::Deadline);
  EXPECT_EQ(error.message(), "rank 2 never came");
  EXPECT_EQ(error.operation(), "all_reduce #1 (bucket 2)");
  EXPECT_GT(waited, 25ms);
  EXPECT_LE(source_->longest(), 30ms) << "never sleeps past the deadline";
  EXPECT_EQ(error_of(*other).code(), ErrorCode::Deadline) << "the group has ended";
}

TEST_F(EngineTest, TheOwnerMayReplaceADeadlineErrorByALoss) {
  const auto liveness = std::make_shared<Liveness>();
  bool was_waiting = false;
  engine_ = std::make_shared<Engine>(
      Engine::Options{.spin = 10us, .liveness = liveness, .on_late = [&](const Error& late) {
                        EXPECT_EQ(late.code(), ErrorCode::Deadline);
                        return Error(ErrorCode::PeerLost, late.message()).with_peer(2);
                      }});
  engine_->add_source(source_);
  source_->on_sleep = [&] { was_waiting |= liveness->report().is_waiting; };
  const Error error = error_of(*start(wait_for(flag_), 0, Deadline::after(20ms)));
  EXPECT_EQ(error.code(), ErrorCode::PeerLost);
  EXPECT_EQ(error.peer(), 2);
  EXPECT_TRUE(was_waiting);
  EXPECT_FALSE(liveness->report().is_waiting);
  EXPECT_EQ(liveness->report().moves, 1u);
  EXPECT_GT(liveness->report().waits, 0u);
}

TEST_F(EngineTest, ADeadlineAppliesToOperationsWithoutAWaiter) {
  const auto patient = start(wait_for(flag_));
  const auto urgent = start(wait_for(flag_), 0, Deadline::after(30ms));
  const Error error = error_of(*patient);
  EXPECT_EQ(error.code(), ErrorCode::Deadline);
  EXPECT_EQ(error.operation(), "all_reduce #2 (bucket 2)") << "the operation whose deadline passed";
  EXPECT_TRUE(urgent->done);
}

TEST_F(EngineTest, TestingAnOperationEnforcesTheDeadlineOfAnother) {
  const auto patient = start(wait_for(flag_));
  const auto urgent = start(wait_for(flag_), 0, Deadline::after(1ms));
  const Deadline bound = soon();
  while (!engine_->test(*patient) && !bound.is_past()) std::this_thread::yield();
  EXPECT_EQ(error_of(*patient).code(), ErrorCode::Deadline);
  EXPECT_TRUE(urgent->done);
}

TEST_F(EngineTest, ADeadlineDoesNotEndOtherGroups) {
  const auto other_fate = std::make_shared<Fate>();
  const auto patient = start(wait_for(flag_), 0, soon(), other_fate);
  const auto urgent = start(wait_for(flag_), 0, Deadline::after(1ms));
  const Deadline bound = soon();
  while (!urgent->done && !bound.is_past()) EXPECT_FALSE(engine_->test(*patient));
  EXPECT_EQ(error_of(*urgent).code(), ErrorCode::Deadline);
  EXPECT_FALSE(patient->done);
  flag_ = true;
  engine_->wait(*patient);
}

TEST_F(EngineTest, ADeadlineAppliesWhileOtherOperationsProgress) {
  const auto busy = [&]() -> Task {
    while (!flag_) co_await GiveWay{};
  };
  const auto other_fate = std::make_shared<Fate>();
  const auto endless = start(busy(), 0, soon(), other_fate);
  std::atomic<bool> never{false};
  const auto late = start(wait_for(never), 0, Deadline::after(10ms));
  EXPECT_EQ(error_of(*late).code(), ErrorCode::Deadline);
  flag_ = true;
  engine_->wait(*endless);
}

TEST_F(EngineTest, AnErrorThatAnotherMemberAnnouncedEndsTheWait) {
  const auto activity = start(wait_for(flag_));
  backend_->fail(Error(ErrorCode::RemoteFailure, "rank 0 failed: out of memory"));
  const Error error = error_of(*activity);
  EXPECT_EQ(error.code(), ErrorCode::RemoteFailure);
  EXPECT_EQ(error.message(), "rank 0 failed: out of memory");
}

TEST_F(EngineTest, ALossThatOnlyThisRankSeesIsAnnouncedOnce) {
  const auto a = start(wait_for(flag_)), b = start(wait_for(flag_));
  backend_->lose(Error(ErrorCode::PeerLost, "the connection to rank 2 broke").with_peer(2));
  EXPECT_EQ(error_of(*a).code(), ErrorCode::PeerLost);
  EXPECT_EQ(error_of(*b).peer(), 2);
  ASSERT_EQ(backend_->announced().size(), 1u);
  EXPECT_EQ(backend_->announced()[0].peer(), 2);
}

// The announcement of another rank came first and describes the cause better.
TEST_F(EngineTest, AnAnnouncementOfAnotherRankReplacesALocalLoss) {
  source_->on_poll = [&] {
    if (backend_->loss()) backend_->fail(Error(ErrorCode::RemoteFailure, "rank 2 failed: why"));
    return false;
  };
  const auto activity = start(wait_for(flag_));
  backend_->lose(Error(ErrorCode::PeerLost, "the connection to rank 2 broke").with_peer(2));
  EXPECT_EQ(error_of(*activity).message(), "rank 2 failed: why");
  EXPECT_TRUE(backend_->announced().empty());
}

TEST_F(EngineTest, AnExceptionInAnOperationIsAnnounced) {
  const auto throwing = [](const std::atomic<bool>& flag) -> Task {
    co_await until([&] { return flag.load(); });
    throw std::runtime_error("no room");
  };
  const auto failing = start(throwing(flag_));
  const auto other = start(wait_for(flag_), -1);
  flag_ = true;
  const Error error = error_of(*failing);
  EXPECT_EQ(error.message(), "no room");
  EXPECT_EQ(error.rank(), 1);
  EXPECT_EQ(error.operation(), "all_reduce #1 (bucket 2)");
  ASSERT_EQ(backend_->announced().size(), 1u) << "the other members would wait for this rank";
  EXPECT_NE(std::string(backend_->announced()[0].what()).find("no room"), std::string::npos);
  EXPECT_EQ(fate_->get()->message(), "no room");
}

TEST_F(EngineTest, SeveralThreadsMayWaitAtOnce) {
  std::atomic<bool> flags[3] = {};
  std::vector<std::shared_ptr<Activity>> all;
  for (auto& flag : flags) all.push_back(start(wait_for(flag)));
  std::vector<std::thread> waiters;
  std::atomic<int> returned{0};
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&, i] {
      engine_->wait(*all[static_cast<std::size_t>(i)]);
      EXPECT_TRUE(flags[i]);
      ++returned;
    });
  }
  for (int i : {1, 2, 0}) {
    while (source_->sleeps() == 0) std::this_thread::yield();
    flags[i] = true;
    source_->wake();
  }
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(returned, 3);
}

}  // namespace
}  // namespace trireme::comm
