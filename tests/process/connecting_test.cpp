// Goal:   when a rank dies or leaves while the others connect, their connection attempt ends at
//         once with its name; ranks on one host that cannot share memory report that and continue.
// Method: three processes that have met; one of them then does not connect, or can map too little
//         memory to open the arena.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "tests/cluster/store_server.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;
using testing::RankChannel;
using testing::RankProcesses;

constexpr int kRanks = 3;
constexpr int kOdd = 1;

// Keeps the events that were logged.
class Events final : public LogSink {
 public:
  void write(LogLevel, std::string_view event, const Record&) noexcept override {
    const std::lock_guard lock(mutex_);
    text_ += event;
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

std::string connect_and_say(cluster::World& world) {
  const auto events = std::make_shared<Events>();
  const TimePoint begun = steady_clock().now();
  try {
    const Group group = connect(
        world, {.timeout = 30s, .operation_timeout = 30s, .log = Log(events, LogLevel::Warn)});
    std::vector<float> data(100, 1.0f);
    group.all_reduce(span(data), ReduceOp::Sum).wait();
    return std::string(group.capabilities().name) + " " + events->text();
  } catch (const Error& error) {
    const bool is_soon = steady_clock().now() - begun < 5s;
    return std::string(is_soon ? "soon: " : "late: ") + error.what();
  }
}

void be_odd(const std::string& how, std::optional<cluster::World>& world) {
  if (how == "dies") std::raise(SIGKILL);
  if (how == "leaves") world.reset();
  if (how == "maps") {
    const rlimit little{std::size_t{4} << 30, std::size_t{4} << 30};
    ::setrlimit(RLIMIT_AS, &little);
  }
}

void rank_body(RankChannel& channel) {
  const std::string how = std::getenv("ODD_HOW");
  const std::string rank = std::to_string(channel.rank());
  const bool has_own_host = std::getenv("ODD_HOSTS") != nullptr;
  const auto lookup = [&](const char* name) -> const char* {
    if (std::string_view(name) == "TRIREME_RANK") return rank.c_str();
    if (std::string_view(name) == "TRIREME_HOST" && has_own_host) return rank.c_str();
    return std::getenv(name);
  };
  std::optional<cluster::World> world = cluster::World::join({.lookup = lookup, .timeout = 20s});
  if (channel.rank() == kOdd) be_odd(how, world);
  channel.say(world ? connect_and_say(*world) : "left");
  channel.hear();
}

std::vector<std::string> run(const std::string& how, bool has_own_hosts) {
  const cluster::StoreServer store;
  std::map<std::string, std::string> environment = store.variables(
      {{"TRIREME_SIZE", std::to_string(kRanks)}, {"TRIREME_JOB", "connecting"}, {"ODD_HOW", how}});
  if (has_own_hosts) environment["ODD_HOSTS"] = "1";
  RankProcesses ranks({.count = kRanks, .environment = environment}, rank_body);
  std::vector<std::string> said;
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != kOdd || how != "dies") said.push_back(ranks.hear(rank, Deadline::after(40s)));
  }
  return said;
}

class Connecting : public ::testing::TestWithParam<bool> {};

TEST_P(Connecting, EndsAtOnceWhenARankDies) {
  RankProcesses::run_if_child(rank_body);
  for (const std::string& said : run("dies", GetParam())) {
    EXPECT_THAT(said, ::testing::StartsWith("soon: "));
    EXPECT_THAT(said, ::testing::HasSubstr("peer 1"));
    EXPECT_THAT(said, ::testing::HasSubstr("[PeerLost]"));
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, Connecting, ::testing::Bool());

TEST(ConnectingApart, EndsSoonWhenARankLeaves) {
  RankProcesses::run_if_child(rank_body);
  const std::vector<std::string> said = run("leaves", false);
  for (const int rank : {0, 2}) {
    const std::string& text = said[static_cast<std::size_t>(rank)];
    EXPECT_THAT(text, ::testing::StartsWith("soon: "));
    EXPECT_THAT(text, ::testing::HasSubstr("rank 1 left"));
  }
}

TEST(ConnectingApart, WarnsAndUsesTcpWhenARankCannotShareMemory) {
  RankProcesses::run_if_child(rank_body);
  for (const std::string& said : run("maps", false)) {
    EXPECT_THAT(said, ::testing::StartsWith("tcp ranks that say they are on one host share no"));
  }
}

}  // namespace
}  // namespace trireme::comm
