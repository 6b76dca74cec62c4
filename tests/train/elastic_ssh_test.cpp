// Goal:   a training whose workers are on two hosts, started through ssh, survives the death of
//         workers and of a whole host, with the bits of an undisturbed job.
// Method: the real programs and a real sshd that is two hosts; the workers of each claim a host of
//         their own, so that they share no memory and speak over TCP. Where a host is cut off, it
//         has a network of its own and the wire to it is taken down.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "tests/train/elastic_job.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/ssh_server.h"
#include "trireme/testing/wired_hosts.h"

namespace trireme::train {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::SshServer;
using testing::WiredHosts;

class ElasticSsh : public ElasticJob {
 protected:
  void SetUp() override {
    if (!SshServer::program()) GTEST_SKIP() << SshServer::kMissing;
    serve({});
  }
  void TearDown() override {
    server_.reset();
    ElasticJob::TearDown();
  }

  void serve(SshServer::Options options) {
    options.environment = {{"XDG_RUNTIME_DIR", state_.runtime().string()},
                           {"TRIREME_CACHE", (folder_.path() / "cache").string()}};
    server_.emplace(options);
  }
  testing::CommandProcess::Options on_two_hosts(const std::string& chaos, Words more = {}) const {
    return on_hosts("127.0.0.1:2,127.0.0.2:2", chaos, std::move(more));
  }
  testing::CommandProcess::Options on_hosts(const std::string& hosts, const std::string& chaos,
                                            Words more) const {
    const std::filesystem::path worker = folder_.path() / "worker";
    write_file_atomically(worker,
                          "#!/bin/sh\nhost=${SSH_CONNECTION% *}\nexport TRIREME_HOST=${host##* }\n"
                          "exec " +
                              build_folder() + "/trireme-worker \"$@\"\n");
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
    more.insert(more.end(),
                {"--hosts", hosts, "--ssh", server_->command(), "--worker", worker.string()});
    return job(chaos, more);
  }

  std::optional<SshServer> server_;
};

TEST_F(ElasticSsh, SurvivesDeathsOnBothHostsBitForBit) {
  testing::CommandProcess process(
      on_two_hosts("kill rank=1 step=8; kill rank=3 step=14 at=prepared"));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(process.error(), HasSubstr("worker 3 on 127.0.0.2 was lost: killed by signal 9"));
  EXPECT_THAT(process.error(), HasSubstr("worker 1 on 127.0.0.1 was lost: killed by signal 9"));
  expect_same_bits_as(undisturbed());
}

// The job requires four workers, so that all workers of the host must be replaced.
TEST_F(ElasticSsh, WaitsForALostHostAndGoesOnBitForBit) {
  testing::CommandProcess process(on_two_hosts("kill rank=2 step=8", {"--min-workers", "4"}));
  process.wait_for_output("worker 2 on 127.0.0.2 was lost", Deadline::after(60s));
  for (const pid_t pid : SshServer::of_host("127.0.0.2", state_.processes())) kill(pid, SIGKILL);
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(process.error(), HasSubstr("host 127.0.0.2 was lost: "));
  EXPECT_THAT(process.error(), HasSubstr("host 127.0.0.2 is back"));
  EXPECT_THAT(events(), HasSubstr("waiting for workers"));
  expect_same_bits_as(undisturbed());
}

// No other member could notice it, and its heartbeats do not reach the launcher's host through
// shared memory: the launcher reads them from the job's store.
TEST_F(ElasticSsh, ReplacesAFrozenWorkerThatTrainsAloneOnAnotherHost) {
  workers_ = 1;
  testing::CommandProcess process(
      on_hosts("127.0.0.2:1", "stop rank=0 step=8", {"elastic.heartbeat=1s"}));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(process.error(),
              HasSubstr("worker 0 on 127.0.0.2 was lost: killed: no heartbeat for 1.0 s"));
  expect_same_bits_as(undisturbed());
}

// Hosts with networks of their own, and wires that can be cut.
class ElasticCutOff : public ElasticSsh {
 protected:
  void SetUp() override {
    if (!SshServer::program()) GTEST_SKIP() << SshServer::kMissing;
    hosts_.emplace();
    if (!hosts_->missing().empty()) GTEST_SKIP() << hosts_->missing();
    serve({.addresses = {"0.0.0.0"}, .within = hosts_->within()});
  }
  void TearDown() override {
    server_.reset();
    hosts_.reset();
    ElasticSsh::TearDown();
  }

  int workers_of(int host) const {
    const std::vector<pid_t> all =
        SshServer::of_host(WiredHosts::address(host), state_.processes());
    return static_cast<int>(std::ranges::count_if(all, [](pid_t pid) {
      std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(file), {}).find("trireme-worker") !=
             std::string::npos;
    }));
  }
  template <class Is>
  void wait_until(const Is& is, Duration patience) const {
    const Deadline deadline = Deadline::after(patience);
    while (!is() && !deadline.is_past()) std::this_thread::sleep_for(5ms);
    ASSERT_TRUE(is());
  }
  bool has_checkpoint() const {
    return checkpoint::Checkpoint::newest_whole(output() / "checkpoints").checkpoint.has_value();
  }

  // Long enough to be cut in its middle.
  static constexpr int kSteps = 800;
  static Words rare() { return {"checkpoint.every=100", "eval.every=400"}; }
  testing::CommandProcess::Options long_job(Words more, const char* orphan_timeout = "2") const {
    for (const std::string& word : rare()) more.push_back(word);
    more.insert(more.end(), {"train.steps=" + std::to_string(kSteps), "elastic.heartbeat=1s",
                             "--orphan-timeout", orphan_timeout});
    return on_hosts(WiredHosts::address(0) + ":2," + WiredHosts::address(1) + ":2", "", more);
  }

  std::optional<WiredHosts> hosts_;
};

// No message crosses the cut: the two other workers miss heartbeats, the workers beyond the cut
// miss the members that decide on epochs, and the launcher misses its agent.
TEST_F(ElasticCutOff, TheOthersGoOnAndItsWorkersEndThemselves) {
  testing::CommandProcess process(long_job({}));
  ASSERT_NO_FATAL_FAILURE(wait_until([&] { return has_checkpoint(); }, 60s));
  EXPECT_EQ(workers_of(1), 2);
  hosts_->cut(1);
  // Heartbeat, orphan_timeout, and a machine with other work.
  ASSERT_NO_FATAL_FAILURE(wait_until([&] { return workers_of(1) == 0; }, 15s));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(events(), HasSubstr("worker 2: "));
  EXPECT_THAT(events(), HasSubstr("worker 3: "));
  EXPECT_THAT(process.error(), HasSubstr("host " + WiredHosts::address(1) + " was lost"));
  expect_same_bits_as(undisturbed(kSteps, rare()));
  // The agent notices that the connection is broken when it writes, or by a timeout.
  hosts_->mend(1);
  wait_until([&] { return SshServer::of_host(WiredHosts::address(1), state_.processes()).empty(); },
             45s);
}

// Until then no worker trains, because the job requires all four.
TEST_F(ElasticCutOff, ItComesBackWhenTheWireDoes) {
  testing::CommandProcess process(long_job({"--min-workers", "4"}));
  ASSERT_NO_FATAL_FAILURE(wait_until([&] { return has_checkpoint(); }, 60s));
  hosts_->cut(1);
  ASSERT_NO_FATAL_FAILURE(wait_until([&] { return workers_of(1) == 0; }, 15s));
  hosts_->mend(1);
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(events(), HasSubstr("waiting for workers"));
  expect_same_bits_as(undisturbed(kSteps, rare()));
}

// For longer than a heartbeat, and not for as long as a lease: its workers were left out meanwhile,
// and find that out themselves.
TEST_F(ElasticCutOff, ForAMomentItsWorkersEndAndOthersCome) {
  testing::CommandProcess process(long_job({"--min-workers", "4"}, "60"));
  ASSERT_NO_FATAL_FAILURE(wait_until([&] { return has_checkpoint(); }, 60s));
  hosts_->cut(1);
  std::this_thread::sleep_for(2s);
  hosts_->mend(1);
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(process.out() + process.error(), HasSubstr("which was declared dead"));
  EXPECT_THAT(events(), HasSubstr("waiting for workers"));
  expect_same_bits_as(undisturbed(kSteps, rare()));
}

}  // namespace
}  // namespace trireme::train
