// Goal:   a frozen peer is reported after the timeout and a busy one is not; a peer that sends
//         heartbeats and makes no progress while this process waits is reported too; a killed peer
//         is harmless before it is gone; a forgotten peer is not reported.
// Method: one real process beside this one, stopped and killed; its own Life sends heartbeats.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <condition_variable>
#include <mutex>

#include "trireme/base/error.h"
#include "trireme/cluster/liveness/life.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using trireme::testing::RankChannel;
using trireme::testing::RankProcesses;

constexpr HeartbeatConfig kQuick{.interval = 60ms, .timeout = 300ms};

Deadline soon() {
  return Deadline::after(30s);
}

void beat(RankChannel& channel) {
  Life life({.watchers = 1, .heartbeat = kQuick});
  ByteWriter out;
  life.proof().write(out);
  channel.say(to_hex(out.bytes()));
  while (channel.hear() != "leave") {
  }
  life.leave();
  channel.say("left");
  channel.hear();
}

MemoryFile::Proof hear_proof(RankProcesses& ranks) {
  const Bytes bytes = from_hex(ranks.hear(0, soon()));
  ByteReader in(bytes);
  return MemoryFile::Proof::read(in);
}

// The life thread's reports, in order.
class News {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    all_.push_back(text);
    changed_.notify_all();
  }
  std::vector<std::string> wait(std::size_t count, Deadline deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline.when(), [&] { return all_.size() >= count; });
    return all_;
  }
  Life::Options options() {
    return {.watchers = 1,
            .on_death = [this](int rank) { add("died " + std::to_string(rank)); },
            .on_left = [this](int rank) { add("left " + std::to_string(rank)); },
            .heartbeat = kQuick,
            .on_silent = [this](int rank, Duration) { add("silent " + std::to_string(rank)); }};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

TEST(LifeFreeze, OnlyAStoppedPeerIsReportedAsSilent) {
  RankProcesses ranks({.count = 1}, beat);
  News news;
  Life life(news.options());
  ASSERT_TRUE(life.watch(4, hear_proof(ranks), 0));
  const TimePoint begin = steady_clock().now();
  ranks.kill(0, SIGSTOP);
  EXPECT_THAT(news.wait(1, soon()), ElementsAre("silent 4"));
  EXPECT_GE(steady_clock().now() - begin, 240ms);
  EXPECT_FALSE(life.wait_harmless(4, Deadline::after(1ms))) << "a stopped process can be continued";
  EXPECT_TRUE(life.kill(4));
  EXPECT_TRUE(life.wait_harmless(4, soon()));
  EXPECT_TRUE(life.wait_gone(4, soon()));
  EXPECT_EQ(news.wait(2, soon()).back(), "died 4");
}

TEST(LifeFreeze, LeavingIsReportedAndForgottenPeersAreNot) {
  RankProcesses ranks({.count = 1}, beat);
  News news;
  Life life(news.options());
  const MemoryFile::Proof proof = hear_proof(ranks);
  EXPECT_TRUE(Life::is_living(proof));
  ASSERT_TRUE(life.watch(4, proof, 0));
  ranks.say(0, "leave");
  EXPECT_EQ(ranks.hear(0, soon()), "left");
  EXPECT_THAT(news.wait(1, soon()), ElementsAre("left 4"));
  EXPECT_FALSE(Life::is_living(proof));
  life.forget(4);
  EXPECT_FALSE(life.kill(4));
  EXPECT_THROW(life.wait_harmless(4, soon()), Error);
  ranks.kill(0, SIGKILL);
  ranks.wait_exit(0, soon());
  EXPECT_EQ(news.wait(2, Deadline::after(50ms)).size(), 1u);
}

// Both are in this process: only their reports matter.
TEST(LifeFreeze, APeerThatBlocksThisOneIsStuckAndOneThatWaitsIsNot) {
  const auto busy = std::make_shared<Liveness>();
  const auto waiting = std::make_shared<Liveness>();
  for (const auto& liveness : {busy, waiting}) liveness->end_step(1ms);
  const Liveness::Waiting held_up(waiting.get());
  News of_busy, of_waiting;
  const auto options_of = [](News& news, const std::shared_ptr<Liveness>& liveness) {
    Life::Options options = news.options();
    options.liveness = liveness;
    options.stalls =
        std::make_shared<StallLedger>(StallConfig{.minimum = 300ms, .factor = 10}, kQuick.interval);
    options.on_stuck = [&news](int rank, const std::string&) {
      news.add("stuck " + std::to_string(rank));
    };
    return options;
  };
  const Life::Options busy_options = options_of(of_busy, busy);
  Life first(busy_options);
  Life second(options_of(of_waiting, waiting));
  ASSERT_TRUE(first.watch(1, second.proof(), 0));
  ASSERT_TRUE(second.watch(0, first.proof(), 0));
  EXPECT_EQ(of_waiting.wait(1, soon()).at(0), "stuck 0");
  EXPECT_EQ(busy_options.stalls->stalled(1), 0ms);
  EXPECT_TRUE(of_busy.wait(1, Deadline::after(0ms)).empty());
}

// No other worker waits for the only one.
TEST(LifeFreeze, AProcessWithoutProgressReportsItselfAndItsPeersCanReadWhy) {
  News news;
  Life::Options options = news.options();
  const auto liveness = std::make_shared<Liveness>();
  liveness->end_step(1ms);
  options.liveness = liveness;
  options.stalls = std::make_shared<StallLedger>(StallConfig{.step_max = 300ms}, kQuick.interval);
  options.on_self_stuck = [&](const std::string& why) { news.add(why); };
  Life life(options);
  News of_peer;
  Life peer(of_peer.options());
  ASSERT_TRUE(peer.watch(4, life.proof(), 0));
  const std::string why = news.wait(1, soon()).at(0);
  EXPECT_THAT(why, ::testing::HasSubstr("stuck: it made no progress for"));
  EXPECT_EQ(peer.reason(4), why);
}

TEST(LifeFreeze, AProcessDoesNotKillItself) {
  News news;
  Life other(news.options());
  Life life(news.options());
  ASSERT_TRUE(life.watch(4, other.proof(), 0));
  EXPECT_FALSE(life.kill(4));
  other.leave();
  EXPECT_TRUE(life.wait_harmless(4, soon()));
}

}  // namespace
}  // namespace trireme::cluster
