// Goal:   the ranks of one host are started, read and ended in the same way for a launcher and for
//         an agent, and those of a dead launcher are taken over.
// Method: shell one-liners as ranks, in this process.

#include "trireme/cluster/launch/local_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/job_hosts.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LocalHostTest : public ::testing::Test, public RankListener {
 protected:
  void begin(const std::string& script, std::optional<Duration> orphan_timeout = std::nullopt) {
    spec_.ranks = 2;
    spec_.program = "/bin/sh";
    spec_.command = {"sh", "-c", script, "sh"};
    spec_.output = folder_.path();
    if (orphan_timeout) spec_.elastic = Elastic{.orphan_timeout = *orphan_timeout};
    host_ = make();
    host_->begin(*this, "tcp://store:1", "tcp://feed:1");
  }
  std::unique_ptr<LocalHost> make() {
    sigset_t none;
    sigemptyset(&none);
    return std::make_unique<LocalHost>(LocalHost::Options{
        .ranks = {.spec = &spec_,
                  .job = "demo",
                  .folder = folder_.path(),
                  .mask = none,
                  .writer = &writer_,
                  .warn = [](const std::string&) {},
                  .orphan_timeout = spec_.orphan_timeout()},
        .reaped = [this](pid_t pid, int status) { host_->on_reaped(pid, status); }});
  }
  void turn(Deadline deadline) {
    std::vector<pollfd> waits;
    host_->add_waits(waits, true);
    poll(waits.data(), waits.size(), min(deadline, Deadline::after(20ms)).poll_timeout());
    host_->pump(waits);
    host::reap_children([this](pid_t pid, int status) { host_->on_reaped(pid, status); });
  }
  void wait_for_ends() {
    for (const Deadline deadline = Deadline::after(10s); host_->ranks().living() > 0;) {
      ASSERT_FALSE(deadline.is_past());
      turn(deadline);
    }
  }
  int finish() {
    host_->records().drain([this](Deadline deadline) { turn(deadline); }, [] { return false; });
    return host_->records().finish();
  }
  std::string log(int rank) const {
    return read_file(folder_.path() / ("rank-" + std::to_string(rank) + ".log"));
  }

  void on_started(int rank, const Record& where) override {
    told_.push_back(std::to_string(rank) + (where.find("pid") != nullptr ? " started" : ""));
  }
  void on_found(int rank) override { told_.push_back(std::to_string(rank) + " found"); }
  void on_ended(const RankExit& exit, const std::string& failure) override {
    told_.push_back(std::to_string(exit.rank) + " " + describe(exit) +
                    (failure.empty() ? "" : ": " + failure));
  }

  JobSpec spec_;
  TemporaryFolder folder_{"local-host-test"};
  output::Writer writer_;
  std::unique_ptr<LocalHost> host_;
  std::vector<std::string> told_;
};

TEST_F(LocalHostTest, RanksAreNumberedInTheirOrderAndTheirOutputIsRead) {
  begin("echo $1 of $TRIREME_SIZE at $TRIREME_STORE");
  EXPECT_EQ(host_->ranks().start_rank(2, {"first"}), 0);
  EXPECT_EQ(host_->ranks().start_rank(2, {"second"}), 1);
  EXPECT_EQ(host_->ranks().worker_list().next, 2);
  wait_for_ends();
  EXPECT_EQ(finish(), 0);
  EXPECT_EQ(log(0), "first of 2 at tcp://store:1\n");
  EXPECT_EQ(log(1), "second of 2 at tcp://store:1\n");
  EXPECT_THAT(told_, ::testing::IsSupersetOf({"0 started", "1 started", "1 exit code 0"}));
}

TEST_F(LocalHostTest, AnEndKillsEveryProcessOfTheRanks) {
  host::become_subreaper();
  begin("setsid sleep 1000 & echo $!; wait");
  host_->ranks().start_rank(1, {});
  while (log(0).empty()) turn(Deadline::after(1s));
  const pid_t daemon = std::stoi(log(0));
  host_->end();
  EXPECT_FALSE(host_->is_running());
  EXPECT_FALSE(host::find_process(daemon));
  EXPECT_THAT(told_.back(), HasSubstr("killed by signal 9"));
}

// In a fixed job they live until the job ends.
TEST_F(LocalHostTest, WhatAReplacedWorkerLeavesIsKilledAndItsFailureIsKnown) {
  host::become_subreaper();
  begin("sleep 1000 & echo $!; echo 'trireme-failure: no data' >&2; exit 3", 60s);
  host_->ranks().start_rank(1, {});
  wait_for_ends();
  EXPECT_EQ(told_.back(), "0 exit code 3: no data");
  finish();
  const pid_t child = std::stoi(log(0));
  const auto lives = [&] {
    const auto process = host::find_process(child);
    return process && !process->is_dying;
  };
  for (const Deadline deadline = Deadline::after(5s); lives() && !deadline.is_past();) {
    turn(Deadline::after(1ms));
  }
  EXPECT_FALSE(lives());
}

TEST_F(LocalHostTest, TakesOverWorkersAndNoticesWhichAreGone) {
  begin("echo up; exec sleep 1000", 60s);
  for (int i = 0; i < 2; ++i) host_->ranks().start_rank(2, {});
  while (log(0).empty() || log(1).empty()) turn(Deadline::after(1s));
  const job::WorkerList list = host_->ranks().worker_list();
  ASSERT_EQ(list.members.size(), 2u);
  kill(list.members[1].pid, SIGKILL);
  waitpid(list.members[1].pid, nullptr, 0);
  told_.clear();
  host_ = make();
  host_->begin(*this, "", "");
  host_->ranks().take_over(list);
  host_->look_for_ends();
  EXPECT_THAT(told_, ElementsAre("0 found", "1 found", HasSubstr("1 killed by signal 9")));
  EXPECT_TRUE(host_->has(list.members[0].pid, list.members[0].start));
  EXPECT_EQ(host_->ranks().start_rank(2, {}), 2);
  host_->end();
  EXPECT_EQ(host_->ranks().living(), 0);
}

}  // namespace
}  // namespace trireme::cluster::launch
