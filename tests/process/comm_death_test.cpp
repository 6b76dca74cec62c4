// Goal:   in whichever operation a rank is killed, wherever the data is and whichever backend
//         transports it, the survivors report that rank before the operation's deadline; if it is
//         frozen, each survivor ends with Deadline and reports it too.
// Method: ranks 0 and 1 survive; every other rank fails in one operation, which these two run with
//         it in a group of three. All groups are created before the first failure, so the processes
//         are started only once for all operations. TRIREME_HOST simulates hosts: no futex works
//         across them.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "tests/cluster/store_server.h"
#include "tests/process/fatal_operations.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;
using testing::RankChannel;
using testing::RankProcesses;

constexpr int kSurvivors = 2;
constexpr int kOperations = static_cast<int>(std::size(kFatalOperations));
constexpr int kEverybody = kSurvivors + kOperations;

struct Scene {
  std::string name;
  int hosts;  // 0: each rank has its own host
  bool is_shared = false;
  int signal = SIGKILL;
  int deadline_ms = 60000;

  friend void PrintTo(const Scene& scene, std::ostream* out) { *out << scene.name; }
};

const Scene kScenes[] = {{"shm", 1},
                         {"shm_symmetric", 1, true},
                         {"hosts", 0},
                         {"hierarchical", 2},
                         {"shm_frozen", 1, false, SIGSTOP, 600},
                         {"hosts_frozen", 0, false, SIGSTOP, 600}};

// Kills or stops this process, after reporting it.
class Blow final : public Faults {
 public:
  Blow(RankChannel& channel, int signal) : channel_(channel), signal_(signal) {}
  void reached(FaultPoint point, int) override {
    if (is_armed && point.name.ends_with(where)) strike();
  }
  void strike() {
    channel_.say("falls");
    std::raise(signal_);
  }
  bool is_armed = false;
  std::string_view where = "";

 private:
  RankChannel& channel_;
  int signal_;
};

std::string host_of(const Scene& scene, int rank) {
  if (scene.hosts == 1) return "one";
  return std::to_string(scene.hosts == 0 ? rank : rank % scene.hosts);
}

void fall(RankChannel& channel, Blow& blow, const Group& group, const FatalOperation& operation,
          const FatalMemory& memory) {
  channel.hear();
  operation.run(group, memory, {});
  if (!operation.has_points) blow.strike();
  blow.is_armed = true;
  for (;;) operation.run(group, memory, {});
}

// Reports the code of the error, its peer and its text.
void survive(RankChannel& channel, const Scene& scene, const Group& group,
             const FatalOperation& operation, const FatalMemory& memory) {
  channel.hear();
  try {
    for (;;) {
      const auto deadline = Deadline::after(std::chrono::milliseconds(scene.deadline_ms));
      operation.run(group, memory, {.label = "bucket 2", .deadline = deadline});
    }
  } catch (const Error& error) {
    std::ostringstream out;
    out << name_of(error.code()) << ' ' << error.peer().value_or(-1) << ' ' << error.what();
    channel.say(out.str());
  }
}

void play(const Scene& scene, RankChannel& channel) {
  const auto lookup = [&](const char* name) -> const char* {
    static thread_local std::string value;
    value = std::string_view(name) == "TRIREME_RANK"   ? std::to_string(channel.rank())
            : std::string_view(name) == "TRIREME_HOST" ? host_of(scene, channel.rank())
                                                       : "";
    return value.empty() ? std::getenv(name) : value.c_str();
  };
  cluster::World world = cluster::World::join({.lookup = lookup, .timeout = 30s});
  Blow blow(channel, scene.signal);
  const Group everybody =
      connect(world, {.timeout = 30s, .operation_timeout = 30s, .faults = &blow});
  std::vector<Group> groups;
  for (int v = kSurvivors; v < kEverybody; ++v) {
    const bool is_in_it = channel.rank() < kSurvivors || channel.rank() == v;
    if (is_in_it) groups.push_back(everybody.subgroup(std::vector<int>{0, 1, v}));
  }
  everybody.barrier().wait();
  channel.say("ready");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool is_victim = channel.rank() >= kSurvivors;
    const auto index = is_victim ? static_cast<std::size_t>(channel.rank() - kSurvivors) : i;
    const FatalOperation& operation = kFatalOperations[index];
    // Covers both data that fits into one message and data that does not.
    const FatalMemory memory(groups[i], index % 3 == 2 ? 64 : 100000, scene.is_shared);
    blow.where = operation.name == "barrier" || index % 2 == 1 ? ".entered" : ".halfway";
    if (index % 3 == 2) blow.where = ".entered";
    if (is_victim) fall(channel, blow, groups[i], operation, memory);
    survive(channel, scene, groups[i], operation, memory);
  }
  channel.hear();
}

struct Verdict {
  std::string code = {};
  int peer = -1;
  std::string text = {};
};

// By operation and survivor.
std::vector<std::vector<Verdict>> watch(RankProcesses& ranks) {
  std::vector<std::vector<Verdict>> all;
  // Until every rank is through the barrier of all ranks, a death would end that barrier too.
  for (const std::string& line : ranks.hear_all(Deadline::after(90s))) EXPECT_EQ(line, "ready");
  for (int v = kSurvivors; v < kEverybody; ++v) {
    for (const int rank : {0, 1, v}) ranks.say(rank, "go");
    EXPECT_EQ(ranks.hear(v, Deadline::after(90s)), "falls");
    std::vector<Verdict>& verdicts = all.emplace_back();
    for (int rank = 0; rank < kSurvivors; ++rank) {
      Verdict& verdict = verdicts.emplace_back();
      verdict.text = ranks.hear(rank, Deadline::after(90s));
      std::istringstream line(verdict.text);
      line >> verdict.code >> verdict.peer;
    }
  }
  return all;
}

class CommDeath : public ::testing::TestWithParam<Scene> {};

TEST_P(CommDeath, SurvivorsNameTheFailedRankInEveryOperation) {
  const Scene& scene = GetParam();
  const auto body = [&](RankChannel& channel) { play(scene, channel); };
  RankProcesses::run_if_child(body);
  const bool is_frozen = scene.signal == SIGSTOP;
  const cluster::StoreServer store;
  RankProcesses ranks({.count = kEverybody,
                       .environment = store.variables({{"TRIREME_SIZE", std::to_string(kEverybody)},
                                                       {"TRIREME_JOB", "death"}})},
                      body);
  const auto all = watch(ranks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(kFatalOperations[i].name);
    const int victim = kSurvivors + static_cast<int>(i);
    for (const Verdict& verdict : all[i]) {
      EXPECT_EQ(verdict.code, is_frozen ? "Deadline" : "PeerLost") << verdict.text;
      EXPECT_THAT(verdict.text, ::testing::HasSubstr("rank " + std::to_string(victim)));
      if (!is_frozen) {
        EXPECT_EQ(verdict.peer, victim) << verdict.text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, CommDeath, ::testing::ValuesIn(kScenes),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace trireme::comm
