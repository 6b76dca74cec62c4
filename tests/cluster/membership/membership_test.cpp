// Goal:   workers join, continue after a loss, admit and dismiss others, and every member gets the
//         same epochs and reports.
// Method: workers as threads, each with its own session of a LocalStore.

#include "trireme/cluster/membership/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>

#include "trireme/base/error.h"
#include "trireme/cluster/membership/death_book.h"
#include "trireme/cluster/membership/presence_watch.h"
#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Deadline soon() {
  return Deadline::after(30s);
}

std::vector<int> workers_of(const Epoch& epoch) {
  std::vector<int> workers;
  for (const EpochMember& entry : epoch.members()) workers.push_back(entry.worker);
  return workers;
}

struct Worker {
  Worker(LocalStore& whole, Membership::Options options)
      : store(whole.open_session()), membership(with_store(std::move(options))) {}

  Membership::Options with_store(Membership::Options options) const {
    options.store = store.get();
    return options;
  }
  std::unique_ptr<LocalStore> store;
  Membership membership;
};

// Runs the action on all workers at once, each on its own thread; returns the error's text for a
// worker that failed.
template <class Action>
auto all(std::vector<std::unique_ptr<Worker>>& workers, const Action& action) {
  std::vector<std::future<std::invoke_result_t<Action, Worker&>>> futures;
  for (const auto& worker : workers) {
    futures.push_back(std::async(std::launch::async, [&] { return action(*worker); }));
  }
  std::vector<std::invoke_result_t<Action, Worker&>> results;
  for (auto& future : futures) results.push_back(future.get());
  return results;
}

class MembershipTest : public ::testing::Test {
 protected:
  void begin(int count) {
    for (int worker = 0; worker < count; ++worker) {
      workers.push_back(std::make_unique<Worker>(
          store, Membership::Options{.worker = worker, .first_size = count}));
    }
    for (const Epoch& epoch : all(workers, [](Worker& w) { return w.membership.join(soon()); })) {
      EXPECT_EQ(encode(epoch), encode(workers[0]->membership.epoch()));
    }
  }
  std::vector<Next> next_all(NextOptions options) {
    return all(workers, [&](Worker& w) {
      const std::string report = "report of rank " + std::to_string(w.membership.rank());
      return w.membership.next(bytes_of(report), options, soon());
    });
  }
  LocalStore store;
  std::vector<std::unique_ptr<Worker>> workers;
};

TEST_F(MembershipTest, WorkersJoinTheFirstEpochAndMoveToTheNext) {
  begin(3);
  EXPECT_THAT(workers_of(workers[0]->membership.epoch()), ElementsAre(0, 1, 2));
  EXPECT_EQ(workers[2]->membership.rank(), 2);
  for (int round = 0; round < 3; ++round) {
    for (const Next& next : next_all({})) {
      EXPECT_EQ(next.epoch.number(), static_cast<std::uint64_t>(round + 2));
      EXPECT_EQ(next.reports.size(), 3u);
      EXPECT_EQ(text_of(next.reports.at(1)), "report of rank 1");
      EXPECT_TRUE(next.gone.empty());
    }
  }
}

TEST_F(MembershipTest, TheOthersContinueAfterAWorkerLeaves) {
  begin(4);
  std::promise<std::string> told;
  workers[0]->membership.on_gone(
      [&](const WorkerEnd& end) { told.set_value(std::to_string(end.worker) + ": " + end.cause); });
  workers.erase(workers.begin() + 1);
  EXPECT_EQ(told.get_future().get(), "1: it left");
  for (const Next& next : next_all({})) {
    EXPECT_THAT(workers_of(next.epoch), ElementsAre(0, 2, 3));
    ASSERT_EQ(next.gone.size(), 1u);
    EXPECT_EQ(next.gone[0].worker, 1);
    EXPECT_EQ(next.gone[0].cause, "it left");
    EXPECT_EQ(next.reports.size(), 3u);
  }
  EXPECT_EQ(workers[1]->membership.rank(), 1);
}

TEST_F(MembershipTest, TheCauseOfALossIsTheFailureThatTheWorkerReported) {
  begin(3);
  workers[1]->membership.set_failure("it failed: the disk is full");
  workers.erase(workers.begin() + 1);
  for (const Next& next : next_all({})) {
    ASSERT_EQ(next.gone.size(), 1u);
    EXPECT_EQ(next.gone[0].cause, "it failed: the disk is full");
  }
}

TEST_F(MembershipTest, ADeathBeforeTheCallbackWasSetIsReported) {
  begin(2);
  workers.pop_back();
  std::promise<int> told;
  workers[0]->membership.on_gone([&](const WorkerEnd& end) { told.set_value(end.worker); });
  EXPECT_EQ(told.get_future().get(), 1);
}

TEST_F(MembershipTest, AJoiningWorkerIsNewUntilItsJoinIsComplete) {
  begin(2);
  EXPECT_FALSE(workers[0]->membership.is_change_wanted());
  auto joiner = std::make_unique<Worker>(store, Membership::Options{.worker = 2, .first_size = 2});
  std::future<Epoch> joined =
      std::async(std::launch::async, [&] { return joiner->membership.join(soon()); });
  workers[0]->membership.wait_for_more(soon());
  EXPECT_TRUE(workers[0]->membership.is_change_wanted());
  for (const Next& next : next_all({.takes_new = true})) {
    EXPECT_THAT(workers_of(next.epoch), ElementsAre(0, 1, 2));
    EXPECT_TRUE(next.epoch.member(2).is_new);
    EXPECT_EQ(next.reports.size(), 2u) << "it has nothing to report";
  }
  EXPECT_EQ(encode(joined.get()), encode(workers[0]->membership.epoch()));
  EXPECT_FALSE(workers[0]->membership.is_change_wanted());
  workers.push_back(std::move(joiner));
  for (const Next& next : next_all({.is_join_complete = false})) {
    EXPECT_TRUE(next.epoch.member(2).is_new);
    EXPECT_EQ(next.reports.size(), 2u);
  }
  for (const Next& next : next_all({})) {
    EXPECT_FALSE(next.epoch.member(2).is_new);
    EXPECT_EQ(next.reports.size(), 3u);
  }
}

TEST_F(MembershipTest, IfFewerAreWantedTheHighestNumbersAreDismissed) {
  begin(3);
  store.set("wanted", bytes_of("1"), soon());
  workers[2]->membership.wait_for_more(soon());
  const auto outcomes = all(workers, [&](Worker& w) -> std::string {
    try {
      const Next next = w.membership.next({}, {.takes_new = true}, soon());
      std::string text = "goes on without";
      for (const Gone& gone : next.gone) text += " " + std::to_string(gone.worker) + gone.cause;
      return text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Aborted);
      EXPECT_TRUE(w.membership.is_dismissed());
      return error.message();
    }
  });
  EXPECT_EQ(outcomes[0], "goes on without 1the job was made smaller 2the job was made smaller");
  EXPECT_EQ(outcomes[1], "the job was made smaller: epoch 2 goes on without worker 1");
  EXPECT_EQ(outcomes[2], "the job was made smaller: epoch 2 goes on without worker 2");
  EXPECT_FALSE(workers[0]->membership.is_change_wanted());
  EXPECT_FALSE(store.get("worker/0000002", soon()))
      << "a dismissed worker's record would admit it again";
}

TEST_F(MembershipTest, OtherJobsAndDuplicateWorkersAreRefused) {
  begin(1);
  Worker other(store, {.worker = 1, .first_size = 1, .job_hash = "other"});
  Worker twice(store, {.worker = 0, .first_size = 1});
  for (Worker* worker : {&other, &twice}) {
    try {
      worker->membership.join(soon());
      FAIL() << "it should not have been admitted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Mismatch);
      EXPECT_THAT(error.message(), HasSubstr(worker == &other ? "worker 1 has job hash other, "
                                                                "worker 0 has job hash "
                                                              : "worker 0 came twice: pid "));
    }
  }
}

TEST_F(MembershipTest, ARefusedWorkerDoesNotEraseTheMembersRecord) {
  begin(1);
  {
    Worker twice(store, {.worker = 0, .first_size = 1});
    EXPECT_THROW(twice.membership.join(soon()), Error);
  }
  EXPECT_TRUE(store.get("worker/0000000", soon()));
}

TEST_F(MembershipTest, AtTheDeadlineTheJobStartsWithTheMinimumOrNamesMissingWorkers) {
  workers.push_back(std::make_unique<Worker>(
      store, Membership::Options{.worker = 1, .first_size = 4, .least = 2}));
  const auto join_in_time = [](Worker& w) { return w.membership.join(Deadline::after(300ms)); };
  try {
    all(workers, join_in_time);
    FAIL() << "one worker is below the minimum";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
    EXPECT_THAT(error.message(), HasSubstr("workers 0, 2, 3 of 4 did not come within "));
  }
  for (const int worker : {0, 3}) {
    workers.push_back(std::make_unique<Worker>(
        store, Membership::Options{.worker = worker, .first_size = 4, .least = 2}));
  }
  for (const Epoch& epoch : all(workers, join_in_time)) {
    EXPECT_THAT(workers_of(epoch), ElementsAre(0, 1, 3));
  }
}

TEST_F(MembershipTest, AMissingReportIsNamedAndTheCallMayBeRepeated) {
  begin(2);
  try {
    workers[0]->membership.next({}, {}, Deadline::after(100ms));
    FAIL() << "worker 1 does nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
    EXPECT_THAT(error.message(), HasSubstr("worker 1 did not report for epoch 2"));
  }
  for (const Next& next : next_all({})) EXPECT_EQ(next.epoch.number(), 2u);
}

}  // namespace
}  // namespace trireme::cluster::membership
