// Goal:   the simulated network delays messages and keeps their order, nodes crash and restart, and
//         the seed determines all of it.
// Method: many messages with several settings; the simulation of the store builds on this.

#include "trireme/testing/simulated_network.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "trireme/base/error.h"
#include "trireme/testing/seeds.h"
#include "trireme/testing/simulated_clock.h"
#include "trireme/testing/simulated_store.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kMessages = 2000;

// Returns when the last message arrived.
TimePoint send_many(const Weather& weather, std::uint64_t* hash = nullptr) {
  SimulatedNetwork network(weather);
  std::vector<std::string> heard;
  network.attach(0, [](int, ByteView) {});
  network.attach(1, [&](int from, ByteView message) {
    EXPECT_EQ(from, 0);
    heard.emplace_back(text_of(message));
  });
  std::vector<std::string> sent;
  for (int i = 0; i < kMessages; ++i) {
    sent.push_back(std::to_string(i));
    network.send(0, 1, to_bytes(sent.back()));
  }
  while (network.step()) {
  }
  EXPECT_EQ(heard, sent);
  if (hash != nullptr) *hash = network.trace_hash();
  return network.clock().now();
}

TEST(SimulatedNetwork, DeliversEverythingOnceInOrderAndLossesDelayIt) {
  EXPECT_EQ(send_many({.seed = 1, .delay_min = 1ms, .delay_max = 1ms}), TimePoint{} + 1ms);
  EXPECT_GT(send_many({.seed = 2, .lost = 0.25}), TimePoint{} + 60ms);
}

TEST(SimulatedNetwork, ASeedDecidesEverything) {
  std::uint64_t first = 0;
  std::uint64_t again = 0;
  std::uint64_t other = 0;
  send_many({.seed = 3, .lost = 0.1}, &first);
  send_many({.seed = 3, .lost = 0.1}, &again);
  send_many({.seed = 4, .lost = 0.1}, &other);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST(SimulatedNetwork, ACrashEndsTimersAndArrivalsAndARestartIsANewLife) {
  SimulatedNetwork network({.seed = 5, .delay_min = 10ms, .delay_max = 10ms});
  int heard = 0;
  int rang = 0;
  const auto listen = [&](int, ByteView) { ++heard; };
  network.attach(0, [](int, ByteView) {});
  network.attach(1, listen);
  network.after(1, 50ms, [&] { ++rang; });
  network.send(0, 1, {});
  network.run_until(TimePoint{} + 5ms);
  network.crash(1);
  EXPECT_FALSE(network.is_up(1));
  EXPECT_THROW(network.after(1, 1ms, [] {}), Error);
  network.run_until(TimePoint{} + 20ms);
  EXPECT_EQ(heard, 0) << "what arrives at a crashed node is lost";
  network.attach(1, listen);
  network.send(0, 1, {});
  network.run_until(TimePoint{} + 100ms);
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(rang, 0) << "a timer of the former life";
  EXPECT_EQ(network.clock().now(), TimePoint{} + 100ms);
}

TEST(SimulatedClock, OnlyGoesOn) {
  SimulatedClock clock;
  clock.advance(5s);
  EXPECT_EQ(clock.now(), TimePoint{} + 5s);
  EXPECT_THROW(clock.advance_to(TimePoint{} + 4s), Error);
}

TEST(Seeds, TheFirstFailureIsNamedWithHowToSeeItAgain) {
  const auto failure = for_each_seed("Suite.Test", 10, [](std::uint64_t seed) {
    return seed == 7 ? std::optional<std::string>("broke") : std::nullopt;
  });
  // With TRIREME_SEED set, only that seed runs, also when this test itself is replayed.
  if (std::getenv("TRIREME_SEED") != nullptr) return;
  ASSERT_TRUE(failure);
  EXPECT_THAT(*failure, ::testing::HasSubstr("seed 7: broke"));
  EXPECT_THAT(*failure, ::testing::HasSubstr("TRIREME_SEED=7 "));
  EXPECT_FALSE(for_each_seed("x", 3, [](std::uint64_t) { return std::nullopt; }));
}

TEST(SimulatedStore, ARestartedServerRefusesThoseOfItsFormerLife) {
  SimulatedNetwork network({.seed = 6});
  SimulatedStoreServer server(network, 0);
  SimulatedStoreClient client(network, {.node = 1});
  server.start();
  client.start();
  cluster::StoreRequest add;
  add.verb = cluster::StoreVerb::Add;
  add.key = "n";
  add.delta = 1;
  std::vector<cluster::StoreReply> replies;
  const auto keep = [&](const cluster::StoreReply& reply) { replies.push_back(reply); };
  client.call(add, keep);
  network.run_until(TimePoint{} + 1s);
  server.crash();
  server.start();
  client.call(add, keep);
  network.run_until(TimePoint{} + 2s);
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].number, 1);
  EXPECT_EQ(replies[1].error, ErrorCode::PeerLost);
  EXPECT_TRUE(server.history().empty());
}

TEST(SimulatedStore, APausedServerAnswersWhenItGoesOn) {
  SimulatedNetwork network({.seed = 7});
  SimulatedStoreServer server(network, 0);
  SimulatedStoreClient client(network, {.node = 1});
  server.start();
  client.start();
  int answers = 0;
  const auto get = [&] {
    cluster::StoreRequest request;
    request.key = "k";
    client.call(request, [&](const cluster::StoreReply& reply) {
      EXPECT_FALSE(reply.error);
      ++answers;
    });
  };
  get();
  network.run_until(TimePoint{} + 1s);
  server.pause();
  get();
  network.run_until(TimePoint{} + 2s);
  EXPECT_EQ(answers, 1);
  server.resume();
  network.run_until(TimePoint{} + 3s);
  EXPECT_EQ(answers, 2);
}

TEST(SimulatedNetwork, ClocksThatAreWrongStayAsWrong) {
  std::map<int, Duration> first, second;
  for (auto* all : {&first, &second}) {
    SimulatedNetwork network({.seed = 3, .skew = 4.0});
    for (int node = 0; node < 8; ++node) {
      network.attach(node, [](int, ByteView) {});
      const TimePoint begin = network.clock().now();
      network.after(node, 100ms,
                    [&, node, begin] { (*all)[node] = network.clock().now() - begin; });
    }
    network.run_until(TimePoint{} + 1s);
    ASSERT_EQ(all->size(), 8u);
  }
  EXPECT_EQ(first, second);
  std::set<Duration> different;
  for (const auto& [node, took] : first) {
    EXPECT_GE(took, 25ms);
    EXPECT_LE(took, 400ms);
    different.insert(took);
  }
  EXPECT_GT(different.size(), 4u);
}

}  // namespace
}  // namespace trireme::testing
