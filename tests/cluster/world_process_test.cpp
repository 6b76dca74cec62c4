// Goal:   ranks that are processes meet, detect each other's deaths in the intended way, and leave
//         nothing behind, whichever rank is killed.
// Method: World over a server in this test, as under `trireme run`, and over rank 0's own, as under
//         mpirun; two artificial hosts by TRIREME_HOST.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cluster/store_kinds.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/world.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using trireme::testing::RankChannel;
using trireme::testing::RankProcesses;

Deadline soon() {
  return Deadline::after(30s);
}

// If requested, ranks with an even number are on one host and those with an odd number on another.
void join_and_report(RankChannel& channel) {
  const std::string rank = std::to_string(channel.rank());
  const std::string size = std::to_string(channel.count());
  const bool is_split = std::getenv("TEST_SPLIT") != nullptr;
  const std::string host = channel.rank() % 2 == 0 ? "even" : "odd";
  const Lookup lookup = [&](const char* name) -> const char* {
    const std::string_view wanted(name);
    if (wanted == "TRIREME_RANK" || wanted == "OMPI_COMM_WORLD_RANK") {
      return std::getenv(name) ? rank.c_str() : nullptr;
    }
    if (wanted == "TRIREME_SIZE" || wanted == "OMPI_COMM_WORLD_SIZE") {
      return std::getenv(name) ? size.c_str() : nullptr;
    }
    if (wanted == "TRIREME_HOST") return is_split ? host.c_str() : nullptr;
    return std::getenv(name);
  };
  // Long, so that a busy machine is not mistaken for a frozen rank, except in the test that freezes
  // one.
  HeartbeatConfig heartbeat{.interval = 100ms, .timeout = 15s};
  if (std::getenv("TEST_IMPATIENT") != nullptr) heartbeat.timeout = 3s;
  World world = World::join({.lookup = lookup, .timeout = 20s, .heartbeat = heartbeat});
  world.on_death([&](const Death& death) {
    channel.say("death " + std::to_string(death.rank) + ": " + death.cause);
  });
  std::string shared = "shares with";
  for (int other = 0; other < world.size(); ++other) {
    if (world.shares_memory_with(other)) shared += " " + std::to_string(other);
  }
  channel.say(shared);
  while (channel.hear() != "leave") {
  }
}

std::map<std::string, std::string> environment_of(StoreServer& kind, bool is_split) {
  std::map<std::string, std::string> variables{{"TRIREME_RANK", "set"},
                                               {"TRIREME_SIZE", "set"},
                                               {"TRIREME_STORE", kind.server().address().to_text()},
                                               {"TRIREME_SECRET", kind.secret().to_hex()}};
  if (is_split) variables["TEST_SPLIT"] = "1";
  return variables;
}

TEST(WorldProcess, NeighboursShareMemoryAndNoticeAKill) {
  RankProcesses::run_if_child(join_and_report);
  StoreServer kind;
  RankProcesses ranks({.count = 3, .environment = environment_of(kind, false)}, join_and_report);
  for (const std::string& line : ranks.hear_all(soon())) EXPECT_EQ(line, "shares with 0 1 2");
  ranks.kill(1, SIGKILL);
  for (const int rank : {0, 2}) {
    EXPECT_EQ(ranks.hear(rank, soon()), "death 1: its process died");
    ranks.say(rank, "leave");
    EXPECT_EQ(ranks.wait_exit(rank, soon()), 0);
  }
}

TEST(WorldProcess, AKillOnAnotherHostIsNoticedThroughTheStore) {
  RankProcesses::run_if_child(join_and_report);
  StoreServer kind;
  RankProcesses ranks({.count = 4, .environment = environment_of(kind, true)}, join_and_report);
  const std::vector<std::string> shared = ranks.hear_all(soon());
  EXPECT_EQ(shared[0], "shares with 0 2");
  EXPECT_EQ(shared[1], "shares with 1 3");
  ranks.kill(3, SIGKILL);
  for (const int rank : {0, 1, 2}) {
    const std::string line = ranks.hear(rank, soon());
    // Either its closed socket was seen first, or its life page by the other rank on its host.
    EXPECT_THAT(line, ::testing::AnyOf("death 3: its session in the store ended",
                                       "death 3: its process died"));
  }
}

TEST(WorldProcess, AFrozenRankOnAnotherHostIsNoticedByItsMissingHeartbeat) {
  RankProcesses::run_if_child(join_and_report);
  StoreServer kind;
  std::map<std::string, std::string> variables = environment_of(kind, true);
  variables["TEST_IMPATIENT"] = "1";
  RankProcesses ranks({.count = 3, .environment = variables}, join_and_report);
  ranks.hear_all(soon());
  ranks.kill(1, SIGSTOP);
  const TimePoint begin = steady_clock().now();
  for (const int rank : {0, 2}) {
    EXPECT_THAT(ranks.hear(rank, soon()), ::testing::StartsWith("death 1: no heartbeat for "));
  }
  EXPECT_GE(steady_clock().now() - begin, 2500ms);
  ranks.kill(1, SIGCONT);
  EXPECT_THAT(ranks.hear(1, soon()), ::testing::StartsWith("death 1: no heartbeat"))
      << "it is told that it was declared dead";
}

TEST(WorldProcess, LeavingInAnyOrderReportsNoDeath) {
  RankProcesses::run_if_child(join_and_report);
  for (const bool is_split : {false, true}) {
    StoreServer kind;
    RankProcesses ranks({.count = 3, .environment = environment_of(kind, is_split)},
                        join_and_report);
    ranks.hear_all(soon());
    for (const int rank : {1, 0, 2}) {
      ranks.say(rank, "leave");
      EXPECT_EQ(ranks.wait_exit(rank, soon()), 0);
      try {
        ADD_FAILURE() << ranks.hear(rank, soon());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::PeerLost) << "it said nothing and ended";
      }
    }
  }
}

TEST(WorldProcess, UnderMpirunAKilledServerIsReportedAndSweptByTheNextJob) {
  RankProcesses::run_if_child(join_and_report);
  const TemporaryFolder runtime("world-test");
  const std::map<std::string, std::string> variables{{"OMPI_COMM_WORLD_RANK", "set"},
                                                     {"OMPI_COMM_WORLD_SIZE", "set"},
                                                     {"PMIX_NAMESPACE", "test"},
                                                     {"XDG_RUNTIME_DIR", runtime.path().string()},
                                                     {"TEST_SPLIT", "1"}};
  for (int round = 0; round < 2; ++round) {
    RankProcesses ranks({.count = 2, .environment = variables}, join_and_report);
    ranks.hear_all(soon());
    if (round == 0) {
      ranks.kill(0, SIGKILL);
      EXPECT_EQ(ranks.hear(1, soon()), "death 0: the store that it serves is gone");
      continue;
    }
    for (const int rank : {0, 1}) ranks.say(rank, "leave");
    for (const int rank : {0, 1}) EXPECT_EQ(ranks.wait_exit(rank, soon()), 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(runtime.path() / "trireme-ranks"));
}

}  // namespace
}  // namespace trireme::cluster
