// Goal:   however long messages take and whichever process crashes, the store applies every request
//         once and a watch sees every change in order.
// Method: thousands of seeds of a simulated world. A deliberate bug shows that the test detects
//         such errors. A failing seed is printed with the command that replays it.

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "trireme/base/build_info.h"
#include "trireme/testing/seeds.h"
#include "trireme/testing/simulated_store.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using namespace trireme::testing;

constexpr int kClients = 4;
constexpr int kWatcher = kClients + 1;
constexpr int kOperations = 10;  // of each kind, per client
constexpr Duration kPatience = 120s;

StoreRequest request_of(StoreVerb verb, const std::string& key) {
  StoreRequest request;
  request.verb = verb;
  request.key = key;
  return request;
}

class Simulation {
 public:
  // A hasty watcher acknowledges a change that it has not seen when it gives up.
  explicit Simulation(std::uint64_t seed, bool skips_changes = false)
      : network({.seed = seed,
                 .lost = 0.05 * static_cast<double>(seed % 7),
                 .delay_max = seed % 3 == 0 ? Duration(1ms) : Duration(60ms)}),
        server(network, 0),
        is_hasty(skips_changes) {
    server.start();
    for (int node = 1; node <= kWatcher; ++node) {
      clients.push_back(std::make_unique<SimulatedStoreClient>(
          network, SimulatedStoreClient::Options{.node = node}));
    }
  }

  // Returns what went wrong, or nothing.
  std::optional<std::string> run() {
    client(kWatcher).start();
    client(kWatcher).call(request_of(StoreVerb::Watch, ""), [this](const StoreReply& reply) {
      watch = static_cast<std::uint64_t>(reply.number);
      take_next(0);
      for (int node = 1; node <= kClients; ++node) start(node);
    });
    while (!is_over() && network.clock().now() < TimePoint{} + kPatience && network.step()) {
    }
    return failure ? failure : check();
  }

  std::uint64_t trace_hash() const { return network.trace_hash(); }

 private:
  SimulatedStoreClient& client(int node) { return *clients[static_cast<std::size_t>(node - 1)]; }
  void fail(const std::string& text) {
    if (!failure) failure = text;
  }
  bool is_over() const {
    return failure || (finished == kClients && seen.size() == server.history().size());
  }

  // Two concurrent chains of requests, each waiting for its own replies.
  void start(int node) {
    client(node).start();
    chains[node] = 2;
    StoreRequest here = request_of(StoreVerb::Set, "here/" + std::to_string(node));
    here.value = share({});
    here.lifetime = Lifetime::Session;
    client(node).call(here, [](const StoreReply&) {});
    add_and_swap(node, 0);
    write_and_read(node, 0);
    if (network.random().below(3) != 0 || crashes[node] == 2) return;
    network.after(node, std::chrono::milliseconds(network.random().below(600)),
                  [this, node] { crash(node); });
  }

  void crash(int node) {
    if (chains[node] == 0) return;
    client(node).crash();
    uncertain += 1;
    ++crashes[node];
    // The server notices, and some time later the process is restarted.
    network.after(0, std::chrono::milliseconds(network.random().below(50)), [this, node] {
      server.drop(node);
      start(node);
    });
  }

  void end_chain(int node) {
    if (--chains[node] == 0) ++finished;
  }

  void add_and_swap(int node, int done) {
    if (done == kOperations) return end_chain(node);
    StoreRequest add = request_of(StoreVerb::Add, "sum");
    add.delta = 1;
    client(node).call(add, [this, node, done](const StoreReply& reply) {
      if (!sums.insert(reply.number).second) {
        fail("two adds returned " + std::to_string(reply.number));
      }
      const std::string key = "once/" + std::to_string(network.random().below(12));
      StoreRequest swap = request_of(StoreVerb::Swap, key);
      swap.value = share(bytes_of(std::to_string(node)));
      client(node).call(swap, [this, node, done, key](const StoreReply& swapped) {
        if (swapped.flag && !winners.emplace(key, node).second) fail(key + " was won twice");
        if (!swapped.flag && !swapped.value) fail(key + " was refused although no client holds it");
        add_and_swap(node, done + 1);
      });
    });
  }

  void write_and_read(int node, int done) {
    if (done == kOperations) return end_chain(node);
    const std::string key = "own/" + std::to_string(node);
    StoreRequest set = request_of(StoreVerb::Set, key);
    set.value = share(bytes_of(std::to_string(crashes[node]) + "." + std::to_string(done)));
    client(node).call(set, [this, node, done, key, value = set.value](const StoreReply&) {
      client(node).call(request_of(StoreVerb::Get, key),
                        [this, node, done, key, value](const StoreReply& reply) {
                          if (!reply.value || *reply.value != *value) fail(key + " went back");
                          write_and_read(node, done + 1);
                        });
    });
  }

  // From time to time the watcher gives up before the reply, like a call whose deadline passes.
  void take_next(std::size_t unseen) {
    StoreRequest next = request_of(StoreVerb::Next, "");
    next.watch = watch;
    next.taken = seen.size() + unseen;
    const std::uint64_t turn = ++turns;
    client(kWatcher).call(next, [this](const StoreReply& reply) {
      if (reply.error) return fail(reply.error_text);
      if (static_cast<std::size_t>(reply.number) != seen.size()) fail("the watch lost its place");
      seen.insert(seen.end(), reply.items.begin(), reply.items.end());
      take_next(0);
    });
    network.after(kWatcher, std::chrono::milliseconds(200 + network.random().below(200)),
                  [this, turn] {
                    if (turn != turns) return;
                    client(kWatcher).abandon_all();
                    take_next(is_hasty ? 1 : 0);
                  });
  }

  std::optional<std::string> check() const {
    if (!is_over()) return "the simulation did not end";
    const std::size_t count = server.history().size();
    for (std::size_t i = 0; i < count; ++i) {
      const StoreMap::Change& change = server.history()[i];
      if (seen[i].revision != change.revision || seen[i].key != change.key) {
        return "the watch saw " + seen[i].key + " instead of " + change.key;
      }
    }
    // Each crash may have lost the reply to one add that was applied.
    const std::int64_t sum = std::stoll(std::string(text_of(*server.state().map().find("sum"))));
    const auto known = static_cast<std::int64_t>(sums.size());
    if (sum < known || sum > known + uncertain) {
      return std::to_string(known) + " adds were answered, the sum is " + std::to_string(sum);
    }
    for (const auto& [key, node] : winners) {
      if (text_of(*server.state().map().find(key)) != std::to_string(node)) {
        return key + " does not hold its winner";
      }
    }
    return std::nullopt;
  }

  SimulatedNetwork network;
  SimulatedStoreServer server;
  const bool is_hasty;
  std::vector<std::unique_ptr<SimulatedStoreClient>> clients;
  std::optional<std::string> failure;
  std::map<int, int> chains;
  std::map<int, int> crashes;
  int finished = 0;
  int uncertain = 0;
  std::set<std::int64_t> sums;
  std::map<std::string, int> winners;
  std::uint64_t watch = 0;
  std::uint64_t turns = 0;
  std::vector<StoreItem> seen;
};

int seed_count() {
  return base::build_info().sanitizer == "OFF" ? 700 : 30;
}

TEST(StoreSimulation, EveryRequestAppliesOnceUnderEverySeed) {
  const auto failure = for_each_seed("StoreSimulation.Every*", seed_count(),
                                     [](std::uint64_t seed) { return Simulation(seed).run(); });
  EXPECT_FALSE(failure) << *failure;
}

TEST(StoreSimulation, ASeedDeterminesTheWholeRun) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Simulation first(seed);
    Simulation second(seed);
    first.run();
    second.run();
    EXPECT_EQ(first.trace_hash(), second.trace_hash());
    hashes.insert(first.trace_hash());
  }
  EXPECT_EQ(hashes.size(), 20u);
}

TEST(StoreSimulation, ADeliberateBugIsDetected) {
  const auto failure = for_each_seed(
      "StoreSimulation.*", 100, [](std::uint64_t seed) { return Simulation(seed, true).run(); });
  ASSERT_TRUE(failure) << "the simulation did not detect a watcher that skips changes";
  EXPECT_THAT(*failure, ::testing::HasSubstr("TRIREME_SEED="));
}

}  // namespace
}  // namespace trireme::cluster
