// Goal:   each death is reported once, with its cause, and leaving is not reported as a death.
// Method: detectors as threads over one LocalStore, on artificial hosts; a dead or frozen rank is
//         one for which the test does not start the detector. Real processes:
//         world_process_test.cpp.

#include "trireme/cluster/liveness/failure_detector.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

constexpr HeartbeatConfig kFast{.interval = 50ms, .timeout = 1s};

Deadline soon() {
  return Deadline::after(30s);
}

// Collects what a detector reports.
class Reports {
 public:
  void add(const Death& death) {
    const std::lock_guard lock(mutex_);
    deaths_.push_back(death);
    added_.notify_all();
  }
  std::vector<Death> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(added_.wait_for(lock, 30s, [&] { return deaths_.size() >= count; }));
    return deaths_;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return deaths_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<Death> deaths_;
};

// A rank on its own host: no memory is shared, everything goes through the store.
struct Rank {
  Rank(const LocalStore& shared, int rank, int size)
      : store(shared.open_session()),
        detector(std::make_unique<FailureDetector>(
            FailureDetector::Options{.rank = rank, .size = size, .heartbeat = kFast}, *store)) {
    member.rank = rank;
    member.size = size;
    member.host = "host " + std::to_string(rank);
    member.life = detector->proof();
    detector->announce(soon());
  }
  void start(const Roster& roster) {
    detector->on_death([this](const Death& death) { reports.add(death); });
    detector->start(roster, soon());
  }
  // The end of a process, as the others see it: its session ends without a message.
  void vanish() { store->erase("fate/000000" + std::to_string(member.rank), soon()); }

  std::unique_ptr<LocalStore> store;
  Member member;
  Reports reports;
  std::unique_ptr<FailureDetector> detector;
};

class FailureDetectorTest : public ::testing::Test {
 protected:
  void make(int size) {
    for (int rank = 0; rank < size; ++rank) {
      ranks.push_back(std::make_unique<Rank>(shared, rank, size));
    }
    std::vector<Member> members;
    for (const auto& rank : ranks) members.push_back(rank->member);
    roster.emplace(0, members);
  }

  LocalStore shared;
  std::optional<Roster> roster;
  std::vector<std::unique_ptr<Rank>> ranks;
};

TEST_F(FailureDetectorTest, AnEndedSessionIsADeath) {
  make(3);
  for (auto& rank : ranks) rank->start(*roster);
  EXPECT_TRUE(ranks[0]->detector->shares_memory_with(0));
  EXPECT_FALSE(ranks[0]->detector->shares_memory_with(2));
  ranks[2]->vanish();
  for (const int rank : {0, 1}) {
    const std::vector<Death> deaths = ranks[static_cast<std::size_t>(rank)]->reports.wait_for(1);
    ASSERT_EQ(deaths.size(), 1u);
    EXPECT_EQ(deaths[0].rank, 2);
    EXPECT_EQ(deaths[0].cause, "its connection to the store closed");
  }
}

TEST_F(FailureDetectorTest, EveryRankLearnsThatASilentRankIsDead) {
  make(4);
  // Rank 3 announced itself and never sends a heartbeat, as if it were frozen.
  for (const int rank : {0, 1, 2}) ranks[static_cast<std::size_t>(rank)]->start(*roster);
  for (const int rank : {0, 1, 2}) {
    const std::vector<Death> deaths = ranks[static_cast<std::size_t>(rank)]->reports.wait_for(1);
    EXPECT_EQ(deaths[0].rank, 3);
    EXPECT_THAT(deaths[0].cause, ::testing::StartsWith("no heartbeat for "));
  }
  // When it wakes up, it is told that it was declared dead.
  ranks[3]->start(*roster);
  EXPECT_EQ(ranks[3]->reports.wait_for(1)[0].rank, 3);
}

TEST_F(FailureDetectorTest, LeavingIsNotADeathAndEachDeathIsReportedOnce) {
  make(3);
  for (auto& rank : ranks) rank->start(*roster);
  ranks[1]->detector->leave();
  ranks[1]->vanish();
  ranks[2]->vanish();
  EXPECT_EQ(ranks[0]->reports.wait_for(1)[0].rank, 2);
  // Several timeouts later there is no further report.
  const std::unique_ptr<Watch> beats = shared.watch("beat/0000000", soon());
  for (int beat = 0; beat < 25; ++beat) beats->next(soon());
  EXPECT_EQ(ranks[0]->reports.count(), 1u);
  EXPECT_EQ(ranks[1]->reports.count(), 0u);
}

TEST_F(FailureDetectorTest, LeavingIsReportedToEveryCallback) {
  make(3);
  Reports early, late;
  for (auto& rank : ranks) rank->start(*roster);
  ranks[0]->detector->on_leave([&](int rank) { early.add({rank}); });
  ranks[1]->detector->leave();
  EXPECT_EQ(early.wait_for(1)[0].rank, 1);
  ranks[0]->detector->on_leave([&](int rank) { late.add({rank}); });
  EXPECT_EQ(late.wait_for(1)[0].rank, 1);
  ranks[2]->vanish();
  EXPECT_EQ(ranks[0]->reports.wait_for(1)[0].rank, 2);
  EXPECT_EQ(early.count(), 1u) << "a death is not reported as leaving";
  ranks[0]->detector->leave();
}

TEST_F(FailureDetectorTest, ALateCallbackReceivesEarlierDeaths) {
  make(2);
  ranks[1]->vanish();
  ranks[0]->detector->start(*roster, soon());
  Reports late;
  ranks[0]->detector->on_death([&](const Death& death) { late.add(death); });
  EXPECT_EQ(late.wait_for(1)[0].cause, "it ended right after the meeting");
  ranks[0]->detector->leave();
}

TEST_F(FailureDetectorTest, AJobWithOneRankWatchesNoRank) {
  make(1);
  ranks[0]->start(*roster);
  EXPECT_TRUE(ranks[0]->detector->shares_memory_with(0));
  EXPECT_FALSE(shared.get("beat/0000000", soon()));
}

}  // namespace
}  // namespace trireme::cluster
