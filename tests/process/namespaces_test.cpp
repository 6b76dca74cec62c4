// Goal:   between two network namespaces, which behave like two hosts: a killed rank is reported
//         within a second, and a link that goes down ends both sides with a specific error, in
//         bounded time.
// Method: two processes, each in its own namespace, with a link between them that the test creates
//         and takes down. Nothing of it is in the test's own namespace, and it ends with them.
//         Requires root; otherwise the test is skipped with a message.

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/net/auth/secret.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;
using testing::RankChannel;
using testing::RankProcesses;

constexpr Duration kOperationTimeout = 2s;

double now_seconds() {
  return std::chrono::duration<double>(steady_clock().now().time_since_epoch()).count();
}

void reduce_for_ever(RankChannel& channel) {
  const std::string rank = std::to_string(channel.rank());
  const auto lookup = [&](const char* name) -> const char* {
    const bool is_own =
        std::string_view(name) == "TRIREME_RANK" || std::string_view(name) == "TRIREME_HOST";
    return is_own ? rank.c_str() : std::getenv(name);
  };
  cluster::World world = cluster::World::join(
      {.lookup = lookup, .timeout = 20s, .heartbeat = {.interval = 100ms, .timeout = 1s}});
  const Group group = connect(
      world, {.timeout = 20s, .operation_timeout = kOperationTimeout, .interface = "wire" + rank});
  std::vector<float> data(100000, 1.0f);
  group.all_reduce(span(data), ReduceOp::Max).wait();
  channel.say(std::string(group.capabilities().name));
  try {
    for (;;) group.all_reduce(span(data), ReduceOp::Max).wait();
  } catch (const Error& error) {
    std::ostringstream out;
    out.precision(17);
    out << now_seconds() << ' ' << name_of(error.code()) << ' ' << error.what();
    channel.say(out.str());
    channel.hear();
  }
}

void live_apart(RankChannel& channel) {
  if (::unshare(CLONE_NEWNET) != 0) {
    channel.say(std::string("cannot: ") + std::strerror(errno));
    channel.hear();
  }
  channel.say("apart");
  channel.hear();
  try {
    reduce_for_ever(channel);
  } catch (const std::exception& error) {
    channel.say(error.what());
  }
  channel.hear();
}

struct Verdict {
  double seconds = 0;
  std::string code = {};
  std::string text = {};
};

class Namespaces : public ::testing::Test {
 protected:
  // False if this process may not create network namespaces, or the tools to connect them are
  // missing.
  bool start() {
    if (::geteuid() != 0) return false;
    ranks_ = std::make_unique<RankProcesses>(
        RankProcesses::Options{
            .count = 2,
            .environment = {{"TRIREME_SIZE", "2"},
                            {"TRIREME_JOB", "namespaces"},
                            {"TRIREME_STORE", "tcp://10.77.0.1:4711"},
                            {"TRIREME_STORE_RANK", "0"},
                            {"TRIREME_SECRET", net::Secret::generate().to_hex()}}},
        live_apart);
    for (const std::string& said : ranks_->hear_all(Deadline::after(30s))) {
      if (said != "apart") return false;
    }
    const bool is_wired =
        run_in(0, "ip link add wire0 type veth peer name wire1 netns " +
                      std::to_string(ranks_->pid(1))) &&
        run_in(0,
               "ip address add 10.77.0.1/24 dev wire0; ip link set lo up; ip link set wire0 up") &&
        run_in(1, "ip address add 10.77.0.2/24 dev wire1; ip link set lo up; ip link set wire1 up");
    if (!is_wired) return false;
    for (const int rank : {0, 1}) ranks_->say(rank, "go");
    for (const int rank : {0, 1}) EXPECT_EQ(ranks_->hear(rank, Deadline::after(30s)), "tcp");
    return true;
  }
  bool run_in(int rank, const std::string& script) {
    testing::CommandProcess run(
        {.command = {"/bin/sh", "-ec",
                     "exec nsenter -n -t " + std::to_string(ranks_->pid(rank)) + " sh -ec '" +
                         script + "'"}});
    return run.wait_exit(Deadline::after(30s)) == 0;
  }
  // `seconds` after `since`.
  Verdict hear(int rank, double since) {
    Verdict verdict{.text = ranks_->hear(rank, Deadline::after(30s))};
    std::istringstream line(verdict.text);
    line >> verdict.seconds >> verdict.code;
    verdict.seconds -= since;
    return verdict;
  }

  static constexpr const char* kMissing =
      "NOT TESTED: two network namespaces (needs root, and ip and nsenter)";

  std::unique_ptr<RankProcesses> ranks_;
};

TEST_F(Namespaces, AKilledRankIsReportedInTheOtherNamespace) {
  RankProcesses::run_if_child(live_apart);
  if (!start()) GTEST_SKIP() << kMissing;
  const double blow = now_seconds();
  ranks_->kill(1, SIGKILL);
  const Verdict verdict = hear(0, blow);
  EXPECT_EQ(verdict.code, "PeerLost") << verdict.text;
  EXPECT_THAT(verdict.text, ::testing::HasSubstr("peer 1"));
}

// No packet reports it: the store receives no heartbeat, and on the side that has lost the store
// the operation's own deadline applies.
TEST_F(Namespaces, ALinkThatGoesDownEndsBothSides) {
  RankProcesses::run_if_child(live_apart);
  if (!start()) GTEST_SKIP() << kMissing;
  ASSERT_TRUE(run_in(1, "ip link set wire1 down"));
  const double blow = now_seconds();
  for (const int rank : {0, 1}) {
    const Verdict verdict = hear(rank, blow);
    EXPECT_TRUE(verdict.code == "PeerLost" || verdict.code == "Deadline") << verdict.text;
    EXPECT_THAT(verdict.text,
                ::testing::AnyOf(::testing::HasSubstr("rank " + std::to_string(1 - rank)),
                                 ::testing::HasSubstr("peer " + std::to_string(1 - rank))));
  }
}

}  // namespace
}  // namespace trireme::comm
