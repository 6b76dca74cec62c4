// Goal:   a training whose workers are on two hosts, started through ssh, survives the death of
//         workers and of a whole host, with the bits of one that nobody disturbed.
// Method: the real programs and a real sshd that is two hosts; the workers of each claim a host of
//         their own, so that they share no memory and speak over TCP.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <optional>

#include "tests/train/elastic_job.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/ssh_server.h"

namespace trireme::train {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::SshServer;

class ElasticSsh : public ElasticJob {
 protected:
  void SetUp() override {
    if (!SshServer::program()) GTEST_SKIP() << SshServer::kMissing;
    server_.emplace(SshServer::Options{
        .environment = {{"XDG_RUNTIME_DIR", state_.runtime().string()},
                        {"TRIREME_CACHE", (folder_.path() / "cache").string()}}});
  }
  void TearDown() override {
    server_.reset();
    ElasticJob::TearDown();
  }

  testing::CommandProcess::Options on_two_hosts(const std::string& chaos, Words more = {}) const {
    const std::filesystem::path worker = folder_.path() / "worker";
    write_file_atomically(worker,
                          "#!/bin/sh\nhost=${SSH_CONNECTION% *}\nexport TRIREME_HOST=${host##* }\n"
                          "exec " +
                              build_folder() + "/trireme-worker \"$@\"\n");
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
    more.insert(more.end(), {"--hosts", "127.0.0.1:2,127.0.0.2:2", "--ssh", server_->command(),
                             "--worker", worker.string()});
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

// Nobody trains with fewer than four, so that all of the host has to come back.
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

}  // namespace
}  // namespace trireme::train
