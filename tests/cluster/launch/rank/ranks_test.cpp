// Goal:   the processes of a job start together, receive signals as groups, and their ends are
//         reported.
// Method: shell one-liners as ranks, in this process.

#include "trireme/cluster/launch/rank/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "trireme/base/deadline.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

class RankProcesses : public ::testing::Test, private RankListener {
 protected:
  void start(int count, const std::string& script,
             const std::filesystem::path& program = "/bin/sh") {
    spec_.ranks = count;
    spec_.program = program;
    spec_.command = {"sh", "-c", script};
    spec_.output = folder_.path();
    sigset_t none;
    sigemptyset(&none);
    const std::vector<host::Processor> one{{.id = 0}};
    ranks_ = std::make_unique<Ranks>(Ranks::Options{
        .spec = &spec_,
        .job = "demo",
        .folder = folder_.path(),
        .cores = host::plan_cores({.processors = one, .ranks = count, .bind = false}),
        .mask = none,
        .writer = &writer_});
    ranks_->begin(*this, "", "");
    for (int i = 0; i < count; ++i) ranks_->start({.rank = i, .size = count});
  }
  // Waits for all ranks and returns how each ended.
  std::vector<std::string> finish() {
    host::OomWatch oom_watch(folder_.path());
    while (ranks_->living() > 0) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, 0);
      if (pid <= 0) break;
      ranks_->on_reaped(pid, status, oom_watch);
    }
    std::vector<std::string> how(static_cast<std::size_t>(spec_.ranks));
    for (const RankExit& exit : ranks_->records().exits()) {
      how[static_cast<std::size_t>(exit.rank)] = describe(exit);
    }
    return how;
  }
  void wait_for_line(int rank) {
    for (; ranks_->records().tail(rank).lines().empty(); usleep(1000)) {
      ranks_->records().read_rest(rank);
    }
  }

  void on_started(int /*rank*/, const Record& /*where*/) override {}
  void on_ended(const RankExit& /*exit*/, const std::string& /*failure*/) override {}

  JobSpec spec_;
  TemporaryFolder folder_{"ranks-test"};
  output::Writer writer_;
  std::unique_ptr<Ranks> ranks_;
};

TEST_F(RankProcesses, EachKnowsItsRankAndItsEndIsReported) {
  start(3, "echo $TRIREME_RANK/$TRIREME_SIZE in $TRIREME_JOB; exit $TRIREME_RANK");
  EXPECT_EQ(ranks_->living(), 3);
  EXPECT_EQ(finish(), (std::vector<std::string>{"exit code 0", "exit code 1", "exit code 2"}));
  for (const int rank : {0, 1, 2}) ranks_->records().read_rest(rank);
  EXPECT_EQ(ranks_->records().tail(1).lines().front(), "1/3 in demo");
  EXPECT_EQ(read_file(folder_.path() / "rank-2.log"), "2/3 in demo\n");
}

// If a pid was reused, the end of the earlier process must not be reported as the rank's end.
TEST_F(RankProcesses, AreIdentifiedByPidAndStartTime) {
  start(1, "sleep 1000");
  const auto process = host::find_process(ranks_->pid(0));
  ASSERT_TRUE(process);
  EXPECT_TRUE(ranks_->has(process->pid, process->start));
  EXPECT_FALSE(ranks_->has(process->pid, process->start - 1));
  EXPECT_FALSE(ranks_->has(getpid(), process->start));
  ranks_->signal(SIGKILL);
  finish();
  EXPECT_FALSE(ranks_->has(process->pid, process->start));
}

TEST_F(RankProcesses, SignalsReachTheWholeGroup) {
  start(2, "sleep 100 & echo on; wait");
  for (int rank : {0, 1}) wait_for_line(rank);
  const auto family = host::descendants_of(getpid(), host::list_processes());
  ranks_->signal(SIGTERM);
  finish();
  for (const RankExit& exit : ranks_->records().exits()) {
    EXPECT_EQ(exit.status, SIGTERM);
    EXPECT_TRUE(exit.is_ours());
  }
  EXPECT_GE(family.size(), 4u);
  for (const host::Process& process : family) {
    const Deadline deadline = Deadline::after(5s);
    const auto lives = [&] {
      const auto now = host::find_process(process.pid);
      return now && !now->is_dying && now->start == process.start;
    };
    while (lives() && !deadline.is_past()) usleep(1000);
    EXPECT_FALSE(lives()) << "a child survived";
  }
}

TEST_F(RankProcesses, OneIsKilledWithItsReasonAndTheOthersContinue) {
  start(2, "[ $TRIREME_RANK = 1 ] && exec sleep 100");
  ranks_->kill_rank(1, "it did not join");
  ranks_->kill_rank(7, "there is no such rank");
  EXPECT_EQ(finish(), (std::vector<std::string>{"exit code 1", "it did not join"}));
  for (const RankExit& exit : ranks_->records().exits()) {
    EXPECT_FALSE(exit.is_ours()) << "the job fails unless the rank is replaced";
  }
  ranks_->kill_rank(1, "the rank has ended");
}

TEST_F(RankProcesses, UserSignalsReachTheRankAlone) {
  start(1, "trap 'echo got; exit 4' USR1; sleep 0.3 & echo on; wait; wait; exit 5");
  wait_for_line(0);
  ranks_->signal(SIGUSR1);
  EXPECT_EQ(finish(), std::vector<std::string>{"exit code 4"});
}

TEST_F(RankProcesses, AStoppedRankStillEnds) {
  start(1, "echo on; exec sleep 100");
  wait_for_line(0);
  ranks_->signal(SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(ranks_->pid(0), &status, WUNTRACED), ranks_->pid(0));
  EXPECT_TRUE(WIFSTOPPED(status));
  ranks_->signal(SIGTERM);
  EXPECT_EQ(finish(), std::vector<std::string>{"killed by signal 15 (SIGTERM)"});
}

TEST_F(RankProcesses, AFailedExecIsReported) {
  start(1, "not run: a folder cannot be executed", folder_.path());
  EXPECT_THAT(finish().front(), ::testing::HasSubstr("could not be started: execve"));
}

}  // namespace
}  // namespace trireme::cluster::launch
