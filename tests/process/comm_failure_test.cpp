// Goal:   on every transport, every survivor reports a rank that is killed inside a collective
//         before the operation's deadline, a frozen rank leads to Deadline at the deadline, and an
//         exception on one rank reaches the others with its text.
// Method: real ranks in real processes. The victim kills or freezes itself at a named fault point;
//         all ranks record the time by the system-wide steady clock, and the test compares the
//         times.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <sstream>

#include "tests/cluster/store_server.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;
using testing::RankChannel;
using testing::RankProcesses;

constexpr int kVictim = 1;
constexpr int kRanks = 3;

double seconds_now() {
  return std::chrono::duration<double>(steady_clock().now().time_since_epoch()).count();
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Kills or stops this process at a named fault point, after reporting the time.
class Strike final : public Faults {
 public:
  Strike(RankChannel& channel, std::string point, int signal)
      : channel_(channel), point_(std::move(point)), signal_(signal) {}

  void reached(FaultPoint point, int rank) override {
    if (rank != kVictim || point.name != point_ || !is_armed) return;
    channel_.say(std::to_string(seconds_now()));
    std::raise(signal_);
  }

  bool is_armed = false;

 private:
  RankChannel& channel_;
  std::string point_;
  int signal_;
};

// One collective that succeeds, then several, in the first of which the victim fails: the data that
// it had already sent may still let the others finish that one. Survivors report the time of their
// error, its code, its peer and its text.
void rank_body(RankChannel& channel) {
  const auto lookup = [&](const char* name) -> const char* {
    static thread_local std::string rank;
    if (std::string_view(name) == "TRIREME_RANK") {
      rank = std::to_string(channel.rank());
      return rank.c_str();
    }
    return std::getenv(name);
  };
  cluster::World world = cluster::World::join({.lookup = lookup, .timeout = 20s});
  Strike strike(channel, variable("COMM_POINT"),
                variable("COMM_SIGNAL") == "stop" ? SIGSTOP : SIGKILL);
  const Group group = connect(world, {.transport = transport_named(variable("COMM_TRANSPORT")),
                                      .timeout = 20s,
                                      .operation_timeout = 20s,
                                      .faults = &strike});
  std::vector<float> data(std::stoul(variable("COMM_COUNT")), 1.0f);
  try {
    group.all_reduce(span(data), ReduceOp::Sum).wait();
    strike.is_armed = true;
    const Call call{.label = "bucket 2",
                    .deadline = Deadline::after(
                        std::chrono::milliseconds(std::stoi(variable("COMM_DEADLINE_MS"))))};
    guarded(group, [&] {
      if (variable("COMM_POINT") == "throw" && channel.rank() == kVictim) {
        channel.say(std::to_string(seconds_now()));
        throw std::runtime_error("the loss is not a number");
      }
      for (;;) group.all_reduce(span(data), ReduceOp::Sum, call).wait();
    });
  } catch (const Error& error) {
    std::ostringstream out;
    out.precision(17);
    out << seconds_now() << ' ' << name_of(error.code()) << ' ' << error.peer().value_or(-1) << ' '
        << error.what();
    channel.say(out.str());
  } catch (const std::exception& error) {
    channel.say(error.what());
  }
  channel.hear();
}

struct Verdict {
  double seconds = 0;  // after the victim failed
  std::string code = {};
  int peer = -1;
  std::string text = {};
};

struct Case {
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.transport << ' ' << c.point; }

  std::string transport;
  std::string point;
  std::string signal;
  std::size_t count = 1 << 20;
  int deadline_ms = 60000;
};

std::vector<Verdict> strike(const Case& c) {
  const cluster::StoreServer store;
  RankProcesses ranks(
      {.count = kRanks,
       .environment = store.variables({{"TRIREME_SIZE", std::to_string(kRanks)},
                                       {"TRIREME_JOB", "failure"},
                                       {"COMM_TRANSPORT", c.transport},
                                       {"COMM_POINT", c.point},
                                       {"COMM_SIGNAL", c.signal},
                                       {"COMM_COUNT", std::to_string(c.count)},
                                       {"COMM_DEADLINE_MS", std::to_string(c.deadline_ms)}})},
      rank_body);
  const double blow = std::stod(ranks.hear(kVictim, Deadline::after(90s)));
  std::vector<Verdict> verdicts;
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == kVictim) continue;
    const std::string said = ranks.hear(rank, Deadline::after(90s));
    std::istringstream line(said);
    Verdict verdict{.text = said};
    line >> verdict.seconds >> verdict.code >> verdict.peer;
    verdict.seconds -= blow;
    verdicts.push_back(verdict);
  }
  return verdicts;
}

class Killed : public ::testing::TestWithParam<Case> {};

// The code shows that the error came before the deadline.
TEST_P(Killed, SurvivorsNameTheDeadRankBeforeTheDeadline) {
  for (const Verdict& verdict : strike(GetParam())) {
    EXPECT_EQ(verdict.code, "PeerLost") << verdict.text;
    EXPECT_EQ(verdict.peer, kVictim) << verdict.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Killed,
                         ::testing::Values(Case{"shm", "shm.before_enter", "kill"},
                                           Case{"shm", "shm.entered", "kill"},
                                           Case{"shm", "shm.halfway", "kill"},
                                           Case{"shm", "shm.entered", "kill", 16},
                                           Case{"tcp", "message.entered", "kill"},
                                           Case{"tcp", "message.halfway", "kill"},
                                           Case{"tcp", "message.entered", "kill", 16}),
                         [](const auto& param_info) {
                           std::string name = param_info.param.transport + "_" +
                                              param_info.param.point + "_" +
                                              std::to_string(param_info.param.count);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

class Frozen : public ::testing::TestWithParam<Case> {};

TEST_P(Frozen, SurvivorsNameTheFrozenRankAtTheDeadline) {
  const double deadline = GetParam().deadline_ms * 1e-3;
  for (const Verdict& verdict : strike(GetParam())) {
    EXPECT_EQ(verdict.code, "Deadline") << verdict.text;
    EXPECT_NE(verdict.text.find("rank 1"), std::string::npos) << verdict.text;
    EXPECT_NE(verdict.text.find("bucket 2"), std::string::npos) << verdict.text;
    EXPECT_GE(verdict.seconds, deadline - 0.2) << verdict.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Frozen,
                         ::testing::Values(Case{"shm", "shm.before_enter", "stop", 1 << 20, 300},
                                           Case{"shm", "shm.halfway", "stop", 1 << 20, 300},
                                           Case{"tcp", "message.entered", "stop", 1 << 20, 300}),
                         [](const auto& param_info) {
                           return param_info.param.transport + "_" +
                                  std::to_string(param_info.index);
                         });

class Thrown : public ::testing::TestWithParam<Case> {};

TEST_P(Thrown, TheExceptionsTextReachesTheOtherRanks) {
  for (const Verdict& verdict : strike(GetParam())) {
    EXPECT_EQ(verdict.code, "RemoteFailure") << verdict.text;
    EXPECT_EQ(verdict.peer, kVictim);
    EXPECT_NE(verdict.text.find("the loss is not a number"), std::string::npos) << verdict.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Thrown,
                         ::testing::Values(Case{"shm", "throw", "kill"},
                                           Case{"tcp", "throw", "kill"}),
                         [](const auto& param_info) { return param_info.param.transport; });

}  // namespace
}  // namespace trireme::comm
