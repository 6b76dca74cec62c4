// Goal:   a job runs on several hosts through ssh as it does on one; whichever process is killed,
//         on either side, it ends at once with a specific error and leaves nothing on any host.
// Method: the real program and a real sshd, which represents two hosts: 127.0.0.1 and 127.0.0.2.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "tests/process/hosts_fixture.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/hosts/agent/agent.h"
#include "trireme/cluster/launch/hosts/protocol/job_file.h"
#include "trireme/testing/ssh_server.h"
#include "trireme/testing/wired_hosts.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

TEST_F(HostsTest, RanksOfTwoHostsConnectAndReduce) {
  serve();
  const TemporaryFolder output("hosts-output");
  Command job(on_hosts(kTwoHosts, {"--output", output.path().string()},
                       {build_folder() + "/examples/02_all_reduce"}));
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_THAT(job.out(), HasSubstr("[" + std::string(rank) + "] rank " + rank + " of 4 had 1 " +
                                     rank + " 0.5 and has 4 6 2\n"));
    EXPECT_THAT(read_file(output.path() / ("rank-" + std::string(rank) + ".log")),
                HasSubstr("and has 4 6 2"));
  }
  EXPECT_THAT(read_file(output.path() / "events.jsonl"), HasSubstr("\"host\":\"127.0.0.2\""));
  EXPECT_TRUE(fs::is_empty(cache_.path())) << "the hosts had all files";
}

TEST_F(HostsTest, ThisHostNeedsNoSsh) {
  serve();
  Command job(on_hosts("localhost:1,127.0.0.2:1", {},
                       shell("echo $TRIREME_RANK/$TRIREME_SIZE $TRIREME_LOCAL_RANK at "
                             "$TRIREME_ADDRESS; [ -n \"$SSH_CONNECTION\" ] || echo here")));
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.out(), HasSubstr("[0] 0/2 0 at 127.0.0.1\n"));
  EXPECT_THAT(job.out(), HasSubstr("[0] here\n"));
  EXPECT_THAT(job.out(), HasSubstr("[1] 1/2 0 at 127.0.0.1\n"));
  EXPECT_THAT(job.out(), Not(HasSubstr("[1] here"))) << "rank 1 came by ssh";
}

TEST_F(HostsTest, AHostThatCannotBeReachedIsNamedAndNothingStarts) {
  serve();
  Command job(on_hosts("127.0.0.1:1,127.0.0.3:1", {}, shell("echo started")));
  EXPECT_EQ(job.wait_exit(soon()), 1);
  EXPECT_THAT(job.error(), HasSubstr("host 127.0.0.3 cannot take part: ssh: connect to host "));
  EXPECT_THAT(job.error(), HasSubstr("Connection refused"));
  EXPECT_THAT(job.out(), Not(HasSubstr("started")));
}

TEST_F(HostsTest, MissingFilesAreCopiedToTheHost) {
  if (geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can hide a folder";
  serve({.hidden = {build_folder()}});
  const std::string example = build_folder() + "/examples/01_hello_ranks";
  for (int i = 0; i < 2; ++i) {
    Command job(on_hosts("127.0.0.1:2", {}, {example}));
    // Tens of megabytes are copied and hashed.
    EXPECT_EQ(job.wait_exit(Deadline::after(90s)), 0) << job.error();
    EXPECT_THAT(job.out(), HasSubstr("rank 1"));
  }
  using cluster::launch::hosts::JobFile;
  const auto is_kept = [&](const std::string& path, const char* name) {
    return fs::exists(cache_.path() / JobFile::of(path).digest / name);
  };
  EXPECT_TRUE(is_kept(program(), "trireme"));
  EXPECT_TRUE(is_kept(example, "01_hello_ranks"));
}

TEST_F(HostsTest, NetworkNamespacesActAsHosts) {
  const testing::WiredHosts hosts;
  if (!hosts.missing().empty()) GTEST_SKIP() << hosts.missing();
  serve({.addresses = {"0.0.0.0"}, .within = hosts.within()});
  Command job(
      on_hosts("10.77.1.2:2,10.77.2.2:1", {},
               {"/bin/sh", "-c",
                "echo at $TRIREME_ADDRESS; exec " + build_folder() + "/examples/02_all_reduce"}));
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.out(), HasSubstr("[1] at 10.77.1.2\n"));
  EXPECT_THAT(job.out(), HasSubstr("[2] at 10.77.2.2\n"));
  EXPECT_THAT(job.out(), HasSubstr("[2] rank 2 of 3 had 1 2 0.5 and has 3 3 1.5\n"));
  server_.reset();
}

// ssh uses one network, and the ranks the other: the test counts packets on each.
TEST_F(HostsTest, RanksUseTheNamedNetwork) {
  testing::WiredHosts hosts;
  if (!hosts.missing().empty()) GTEST_SKIP() << hosts.missing();
  hosts.connect("fast");
  serve({.addresses = {"0.0.0.0"}, .within = hosts.within()});
  const auto said_over = [&](const Words& options) {
    Command::Options command = on_hosts(
        "localhost:1," + testing::WiredHosts::address(1) + ":1", options,
        shell("set -e; echo at $TRIREME_ADDRESS; " + build_folder() +
              "/examples/02_all_reduce; echo fast $(cat /proc/net/dev | grep fast | tr -s ' ' | "
              "cut -d ' ' -f 4)"));
    std::istringstream first(hosts.within()[0]);
    const Words within{std::istream_iterator<std::string>(first), {}};
    command.command.insert(command.command.begin(), within.begin(), within.end());
    Command job(command);
    EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
    return job.out();
  };
  const auto packets = [](const std::string& out) {
    const std::string mark = "[1] fast ";
    const std::size_t at = out.find(mark);
    return at == std::string::npos ? -1 : std::stol(out.substr(at + mark.size()));
  };
  const std::string usual = said_over({});
  EXPECT_THAT(usual, HasSubstr("[1] at " + testing::WiredHosts::address(1) + "\n"));
  const std::string fast = said_over({"--interface", "fast"});
  EXPECT_THAT(fast, HasSubstr("[1] at " + testing::WiredHosts::straight_address(1) + "\n"));
  EXPECT_THAT(fast, HasSubstr("[1] rank 1 of 2 had 1 1 0.5 and has 2 1 1\n"));
  // The kernel itself sends a few.
  EXPECT_GE(packets(usual), 0);
  EXPECT_LT(packets(usual), 20);
  EXPECT_GT(packets(fast) - packets(usual), 20);
  server_.reset();
}

TEST_F(HostsTest, SignalsReachEveryHost) {
  serve();
  Command job(on_hosts(kTwoHosts, {},
                       shell("trap 'echo saving; exit 0' TERM; echo up; "
                             "while :; do sleep 0.02; done")));
  job.wait_for_output("] up", soon(), 4);
  // The secret is in no command line and no environment.
  const auto folders = fs::directory_iterator(state_.runtime() / "trireme");
  std::string secret;
  for (const auto& folder : folders) {
    if (fs::exists(folder.path() / "card.json")) secret = read_file(folder.path() / "secret");
  }
  ASSERT_EQ(secret.size(), 65u);
  for (const pid_t pid : state_.processes()) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string environment = text.str();
    EXPECT_THAT(environment + command_of(pid), Not(HasSubstr(secret.substr(0, 64))));
  }
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait_exit(soon()), 143);
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_THAT(job.out(), HasSubstr("[" + std::string(rank) + "] saving\n"));
  }
  EXPECT_TRUE(has_gone(job));
}

// Each rank ignores SIGTERM, SIGINT and SIGHUP, and has a daemon that does too.
constexpr const char* kStubborn =
    "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM INT HUP; sleep 1000 & echo up; wait' &); "
    "echo rank $$; sleep 1000 & wait";

struct Victim {
  const char* name;
  const char* words;  // part of the job's error output
};

class HostsKillTest : public HostsTest, public ::testing::WithParamInterface<Victim> {};

TEST_P(HostsKillTest, EndsTheJobEverywhere) {
  serve();
  Command job(on_hosts(kTwoHosts, {"--grace", "0.2"}, shell(kStubborn)));
  job.wait_for_output("] rank ", soon(), 4);
  job.wait_for_output("] up", soon(), 4);
  const Victim& victim = GetParam();
  const std::string name = victim.name;
  const std::vector<pid_t> agents = find(std::string("trireme\0agent", 13));
  ASSERT_EQ(agents.size(), 4u) << "two on each host, besides their wardens";
  pid_t pid = 0;
  if (name == "Rank") pid = pid_after(job, "[3] rank ");
  if (name == "Launcher") pid = launcher_of(job);
  if (name == "Front") pid = job.pid();
  if (name == "Ssh") pid = find("@trireme").back();
  if (name == "AgentFront" || name == "AgentLauncher") {
    // Of the two agents, the one with a warden was started through ssh.
    pid = *std::ranges::find_if(agents, [](pid_t agent) { return warden_of(agent) > 0; });
    if (name == "AgentLauncher") pid = launcher_of(pid);
  }
  kill_one(pid, SIGKILL);
  EXPECT_EQ(job.wait_exit(soon()), 137);
  EXPECT_THAT(job.error(), HasSubstr(victim.words));
  EXPECT_TRUE(has_gone(job));
}

INSTANTIATE_TEST_SUITE_P(
    , HostsKillTest,
    ::testing::Values(
        Victim{"Rank", "rank 3 on 127.0.0.2 failed: killed by signal 9"},
        Victim{"AgentFront", "its host was lost: the process that ssh had started there was"},
        Victim{"AgentLauncher", "its host was lost: the launcher was killed by signal 9"},
        Victim{"Ssh", "on 127.0.0.2 failed: its host was lost: ssh was killed by"},
        Victim{"Launcher", "the launcher was killed by signal 9"}, Victim{"Front", ""}),
    [](const auto& victim) { return std::string(victim.param.name); });

}  // namespace
}  // namespace trireme
