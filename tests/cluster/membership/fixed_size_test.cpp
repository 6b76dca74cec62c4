// Goal:   in a job of fixed size each death is reported once, with its cause, leaving is told apart
//         from dying, and a rank's work does not grow with the number of ranks.
// Method: memberships as threads over one LocalStore, each on a host of its own; a dead rank is one
//         whose record the test erases, and a frozen rank one whose heartbeats are not stored. Real
//         processes: world_process_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

#include "trireme/cluster/membership/membership.h"
#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

constexpr HeartbeatConfig kFast{.interval = 50ms, .timeout = 1s};

Deadline soon() {
  return Deadline::after(30s);
}

class Ends {
 public:
  void add(const WorkerEnd& end) {
    const std::lock_guard lock(mutex_);
    ends_.push_back(end);
    added_.notify_all();
  }
  std::vector<WorkerEnd> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(added_.wait_for(lock, 30s, [&] { return ends_.size() >= count; }));
    return ends_;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return ends_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<WorkerEnd> ends_;
};

// Counts reads of heartbeats and watches; stores none of this rank's heartbeats if asked to.
class Counting final : public Store {
 public:
  explicit Counting(std::unique_ptr<LocalStore> store) : store_(std::move(store)) {}
  std::atomic<bool> is_mute = false;
  std::atomic<int> heartbeats = 0;
  std::atomic<int> reads = 0;
  std::atomic<int> watches = 0;

  std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) override {
    ++watches;
    EXPECT_EQ(prefix, kWorkerPrefix) << "heartbeats are not watched";
    return store_->watch(prefix, deadline);
  }

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override {
    const bool is_heartbeat = request.key.starts_with("well/");
    if (is_heartbeat && request.verb == StoreVerb::Set) ++heartbeats;
    if (is_heartbeat && request.verb == StoreVerb::Get) ++reads;
    if (is_heartbeat && request.verb == StoreVerb::Set && is_mute) return {};
    return store_->ask(std::move(request), deadline);
  }

 private:
  const std::unique_ptr<LocalStore> store_;
};

struct Rank {
  Rank(const LocalStore& whole, int rank, int size, const std::string& host)
      : store(whole.open_session()),
        membership(std::make_unique<Membership>(
            Membership::Options{.worker = rank,
                                .size = size,
                                .heartbeat = kFast,
                                .store = &store,
                                .lookup = [host](const char* name) -> const char* {
                                  const bool is_host = std::string_view(name) == "TRIREME_HOST";
                                  return is_host ? host.c_str() : nullptr;
                                }})) {
    membership->on_gone([this](const WorkerEnd& end) { ends.add(end); });
  }
  ~Rank() { membership.reset(); }

  Counting store;
  Ends ends;
  std::unique_ptr<Membership> membership;
};

class FixedSize : public ::testing::Test {
 protected:
  void begin(int size, bool has_one_host = false) {
    for (int rank = 0; rank < size; ++rank) {
      const std::string host = has_one_host ? "one" : std::to_string(rank);
      ranks.push_back(std::make_unique<Rank>(whole, rank, size, host));
    }
  }
  void join() {
    std::vector<std::future<void>> joins;
    for (const auto& rank : ranks) {
      joins.push_back(std::async(std::launch::async, [&] { rank->membership->join(soon()); }));
    }
    for (auto& join : joins) join.get();
  }
  // The end of a process, as the others see it: its session ends without a message.
  void vanish(int rank) { whole.erase(worker_key(rank), soon()); }
  Rank& at(int rank) { return *ranks[static_cast<std::size_t>(rank)]; }

  LocalStore whole;
  std::vector<std::unique_ptr<Rank>> ranks;
};

TEST_F(FixedSize, AnEndedSessionIsADeath) {
  begin(3);
  join();
  EXPECT_TRUE(at(0).membership->shares_memory_with(0));
  EXPECT_FALSE(at(0).membership->shares_memory_with(2));
  vanish(2);
  for (const int rank : {0, 1}) {
    const WorkerEnd end = at(rank).ends.wait_for(1)[0];
    EXPECT_EQ(end.worker, 2);
    EXPECT_EQ(end.cause, "its session in the store ended");
    EXPECT_FALSE(end.has_left);
  }
}

// Only two of the others read its heartbeats.
TEST_F(FixedSize, EveryRankLearnsThatASilentRankIsDead) {
  begin(5);
  at(3).store.is_mute = true;
  join();
  for (int rank = 0; rank < 5; ++rank) {
    const WorkerEnd end = at(rank).ends.wait_for(1)[0];
    EXPECT_EQ(end.worker, 3) << "rank 3 itself is told, too";
    EXPECT_THAT(end.cause, StartsWith("no heartbeat for "));
  }
}

TEST_F(FixedSize, ARankReadsTheHeartbeatsOfFewOthers) {
  begin(8);
  join();
  for (const auto& rank : ranks) {
    while (rank->store.heartbeats < 10) std::this_thread::sleep_for(1ms);
    EXPECT_LE(rank->store.reads, 2 * rank->store.heartbeats);
    EXPECT_GT(rank->store.reads, 0);
  }
}

TEST_F(FixedSize, ARankThatSharesMemoryWithAllOthersLeavesTheStoreAlone) {
  begin(3, true);
  join();
  EXPECT_TRUE(at(0).membership->shares_memory_with(2));
  at(2).membership->leave();
  const WorkerEnd end = at(0).ends.wait_for(1)[0];
  EXPECT_EQ(end.worker, 2);
  EXPECT_TRUE(end.has_left);
  for (const auto& rank : ranks) {
    EXPECT_EQ(rank->store.watches, 0);
    EXPECT_EQ(rank->store.heartbeats, 0);
  }
}

TEST_F(FixedSize, LeavingIsReportedToEveryCallbackAndEachEndOnce) {
  begin(3);
  Ends late;
  join();
  at(1).membership->leave();
  const WorkerEnd left = at(0).ends.wait_for(1)[0];
  EXPECT_EQ(left.worker, 1);
  EXPECT_EQ(left.cause, "it left");
  EXPECT_TRUE(left.has_left);
  at(0).membership->on_gone([&](const WorkerEnd& end) { late.add(end); });
  EXPECT_EQ(late.wait_for(1)[0].worker, 1);
  vanish(2);
  const WorkerEnd died = at(0).ends.wait_for(2)[1];
  EXPECT_EQ(died.worker, 2);
  EXPECT_FALSE(died.has_left);
  // Several timeouts later there is no further report.
  const int before = at(0).store.heartbeats;
  while (at(0).store.heartbeats < before + 25) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(at(0).ends.count(), 2u);
  EXPECT_EQ(at(1).ends.count(), 0u);
  at(0).membership->leave();
}

// A rank that has nothing to do may leave before a slower one has begun to watch.
TEST_F(FixedSize, ARankThatLeftBeforeTheOthersWatchedHasLeft) {
  begin(2);
  std::future<void> other = std::async(std::launch::async, [&] { at(1).membership->join(soon()); });
  at(0).membership->join(soon());
  at(0).membership->leave();
  other.get();
  EXPECT_TRUE(at(1).ends.wait_for(1)[0].has_left);
}

}  // namespace
}  // namespace trireme::cluster::membership
