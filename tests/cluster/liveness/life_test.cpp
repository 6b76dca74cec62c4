// Goal:   every peer notices a death within milliseconds, once, and nothing else counts as a death:
//         neither a stopped process nor one that left.
// Method: real processes, killed by the test; each reports when it noticed, by the same clock.

#include "trireme/cluster/liveness/life.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>

#include "trireme/base/error.h"
#include "trireme/cluster/liveness/life_page.h"
#include "trireme/cluster/liveness/robust_list.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using trireme::testing::RankChannel;
using trireme::testing::RankProcesses;

Deadline soon() {
  return Deadline::after(30s);
}

std::string to_text(const MemoryFile::Proof& proof) {
  ByteWriter out;
  proof.write(out);
  return to_hex(out.bytes());
}

MemoryFile::Proof to_proof(const std::string& text) {
  const Bytes bytes = from_hex(text);
  ByteReader in(bytes);
  return MemoryFile::Proof::read(in);
}

long long nanoseconds_now() {
  return steady_clock().now().time_since_epoch().count();
}

// Sends its proof, receives all proofs, watches all ranks; then follows the test's commands.
void live(RankChannel& channel) {
  Life life({.watchers = channel.count(),
             .on_death =
                 [&](int rank) {
                   channel.say("death " + std::to_string(rank) + " " +
                               std::to_string(nanoseconds_now()));
                 },
             .may_use_waitv = std::getenv("TEST_OLD_KERNEL") == nullptr});
  channel.say(to_text(life.proof()));
  for (int rank = 0; rank < channel.count(); ++rank) {
    const MemoryFile::Proof proof = to_proof(channel.hear());
    if (rank == channel.rank()) continue;
    if (!life.watch(rank, proof, channel.rank())) channel.say("not reachable");
  }
  channel.say("watching");
  for (;;) {
    const std::string order = channel.hear();
    if (order == "leave") life.leave();
    if (order == "exit") ::_exit(3);
    if (order == "echo") channel.say("echo");
    if (order.starts_with("gone ")) {
      const bool is_gone = life.wait_gone(std::atoi(order.c_str() + 5), soon());
      channel.say(is_gone ? "gone" : "there");
    }
  }
}

void introduce(RankProcesses& ranks) {
  const std::vector<std::string> proofs = ranks.hear_all(soon());
  for (int rank = 0; rank < ranks.count(); ++rank) {
    for (const std::string& proof : proofs) ranks.say(rank, proof);
  }
  for (const std::string& line : ranks.hear_all(soon())) ASSERT_EQ(line, "watching");
}

// Every rank except those in `dead` still answers, and has reported nothing before its answer.
void expect_silence(RankProcesses& ranks, const std::vector<int>& dead) {
  for (int rank = 0; rank < ranks.count(); ++rank) {
    if (std::find(dead.begin(), dead.end(), rank) != dead.end()) continue;
    ranks.say(rank, "echo");
    EXPECT_EQ(ranks.hear(rank, soon()), "echo") << "rank " << rank;
  }
}

// This rank notices that one of `dead` died.
void expect_death(RankProcesses& ranks, int rank, std::vector<int>& dead) {
  const std::string line = ranks.hear(rank, soon());
  int who = -1;
  long long when = 0;
  EXPECT_EQ(std::sscanf(line.c_str(), "death %d %lld", &who, &when), 2) << line;
  const auto it = std::find(dead.begin(), dead.end(), who);
  EXPECT_NE(it, dead.end()) << line;
  if (it != dead.end()) dead.erase(it);
}

// A thread that owns the first word of a page until it dies.
class Peer {
 public:
  explicit Peer(const LifePage& page)
      : thread_([this, &page] {
          new (storage_) RobustList(page, 1);
          owned_.set_value();
          death_.get_future().wait();
        }) {
    owned_.get_future().wait();
  }
  ~Peer() {
    if (thread_.joinable()) die();
    std::thread([this] { reinterpret_cast<RobustList*>(storage_)->~RobustList(); }).join();
  }
  // The thread ends while its RobustList still exists, as a killed thread does.
  void die() {
    death_.set_value();
    thread_.join();
  }

 private:
  alignas(RobustList) std::byte storage_[sizeof(RobustList)];
  std::promise<void> owned_;
  std::promise<void> death_;
  std::thread thread_;
};

class LifeTest : public ::testing::TestWithParam<int> {};

TEST_P(LifeTest, EveryPeerNoticesAKillAtOnce) {
  const int count = GetParam();
  for (int trial = 0; trial < 3; ++trial) {
    RankProcesses ranks({.count = count}, live);
    ASSERT_NO_FATAL_FAILURE(introduce(ranks));
    const int dead = trial % count;
    ranks.kill(dead, SIGKILL);
    for (int rank = 0; rank < count; ++rank) {
      std::vector<int> expected{dead};
      if (rank != dead) expect_death(ranks, rank, expected);
    }
    EXPECT_TRUE(WIFSIGNALED(ranks.wait_exit(dead, soon())));
    expect_silence(ranks, {dead});
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, LifeTest, ::testing::Values(2, 3, 8));

TEST(Life, AllButOneDieAtOnce) {
  RankProcesses ranks({.count = 8}, live);
  ASSERT_NO_FATAL_FAILURE(introduce(ranks));
  std::vector<int> dead{0, 1, 2, 3, 4, 5, 6};
  for (const int rank : dead) ranks.kill(rank, SIGKILL);
  const std::size_t count = dead.size();
  for (std::size_t i = 0; i < count; ++i) expect_death(ranks, 7, dead);
  EXPECT_TRUE(dead.empty()) << "each death once";
  expect_silence(ranks, {0, 1, 2, 3, 4, 5, 6});
  ranks.say(7, "gone 3");
  EXPECT_EQ(ranks.hear(7, soon()), "gone");
}

TEST(Life, AnExitWithoutLeavingIsADeath) {
  RankProcesses ranks({.count = 2}, live);
  ASSERT_NO_FATAL_FAILURE(introduce(ranks));
  ranks.say(1, "exit");
  EXPECT_TRUE(ranks.hear(0, soon()).starts_with("death 1 "));
}

TEST(Life, LeavingIsNotADeath) {
  RankProcesses ranks({.count = 3}, live);
  ASSERT_NO_FATAL_FAILURE(introduce(ranks));
  ranks.say(1, "leave");
  ranks.say(1, "exit");
  EXPECT_EQ(WEXITSTATUS(ranks.wait_exit(1, soon())), 3);
  ranks.say(0, "gone 1");
  EXPECT_EQ(ranks.hear(0, soon()), "gone");
  expect_silence(ranks, {1});
}

TEST(Life, AStoppedProcessIsNotDead) {
  RankProcesses ranks({.count = 2}, live);
  ASSERT_NO_FATAL_FAILURE(introduce(ranks));
  ranks.kill(1, SIGSTOP);
  // Longer than the second after which the pidfds are checked.
  EXPECT_THROW(ranks.hear(0, Deadline::after(1500ms)), Error);
  ranks.kill(1, SIGCONT);
  expect_silence(ranks, {});
  ranks.kill(1, SIGSTOP);
  ranks.kill(1, SIGKILL);
  EXPECT_TRUE(ranks.hear(0, soon()).starts_with("death 1 ")) << "stopped and then killed";
}

TEST(Life, WithoutFutexWaitvDeathsAndLeavesAreDistinguished) {
  RankProcesses ranks({.count = 3, .environment = {{"TEST_OLD_KERNEL", "1"}}}, live);
  ASSERT_NO_FATAL_FAILURE(introduce(ranks));
  ranks.say(1, "leave");
  ranks.say(1, "exit");
  ranks.wait_exit(1, soon());
  ranks.kill(2, SIGKILL);
  EXPECT_TRUE(ranks.hear(0, soon()).starts_with("death 2 "));
  expect_silence(ranks, {1, 2});
}

TEST(Life, WatchesMorePeersThanOneFutexWaitvCallSupports) {
  constexpr int kPeers = 300;
  std::mutex mutex;
  std::condition_variable noticed;
  std::vector<int> dead;
  Life life({.watchers = 1, .on_death = [&](int rank) {
               const std::lock_guard lock(mutex);
               dead.push_back(rank);
               noticed.notify_one();
             }});
  // Peers that are threads: each owns a page and ends on command, as if it had been killed.
  std::vector<LifePage> pages;
  for (int rank = 0; rank < kPeers; ++rank) pages.push_back(LifePage::make());
  std::vector<std::unique_ptr<Peer>> peers;
  for (int rank = 0; rank < kPeers; ++rank) {
    const LifePage& page = pages[static_cast<std::size_t>(rank)];
    peers.push_back(std::make_unique<Peer>(page));
    ASSERT_TRUE(life.watch(rank, page.proof(), 0));
  }
  for (const int rank : {kPeers - 1, 0, 150}) {
    peers[static_cast<std::size_t>(rank)]->die();
    std::unique_lock lock(mutex);
    ASSERT_TRUE(noticed.wait_for(lock, 30s, [&] { return !dead.empty(); }));
    EXPECT_EQ(dead, std::vector<int>{rank});
    dead.clear();
  }
  life.leave();
}

TEST(Life, WaitingForAnUnwatchedPeerFails) {
  Life life({.watchers = 1});
  EXPECT_THROW(life.wait_gone(5, soon()), Error);
  MemoryFile::Proof absent = life.proof();
  absent.pid = 1 << 22;
  EXPECT_FALSE(life.watch(5, absent, 0));
}

}  // namespace
}  // namespace trireme::cluster
