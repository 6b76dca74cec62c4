// Goal:   an elastic job grows and shrinks while it runs, and survives its coordinator and its
//         launcher; when no process watches it any more, it ends by itself.
// Method: the real programs; a worker that does not train but uses the job's store.

#include <signal.h>

#include "tests/process/job_fixture.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/job/card.h"
#include "trireme/cluster/launch/job/coordinator.h"
#include "trireme/testing/scoped_variable.h"

namespace trireme {
namespace {

namespace job = cluster::launch::job;

class ScaleTest : public JobTest {
 protected:
  Command::Options elastic(const Words& options) const {
    Words words{program(), "run", "--elastic", "--name", "supple"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", build_folder() + "/tests/elastic_worker", done()});
    return {.command = words};
  }
  std::string done() const { return (folder_.path() / "done").string(); }
  void finish() const { write_file_atomically(done(), std::string_view("1")); }

  std::filesystem::path folder() const { return state_.runtime() / "trireme" / "supple"; }
  static std::string tell(const Words& words, int code = 0) {
    Words whole{program()};
    whole.insert(whole.end(), words.begin(), words.end());
    Command command({.command = whole});
    EXPECT_EQ(command.wait_exit(soon()), code) << command.error();
    return command.out() + command.error();
  }
  // A coordinator other than `before`.
  pid_t coordinator_after(pid_t before) const {
    const Deadline deadline = soon();
    while (!deadline.is_past()) {
      const auto now = job::coordinator_of(folder());
      if (now && *now != before) return *now;
    }
    throw Error(ErrorCode::Deadline, "no new coordinator was started");
  }
  // From its card: after the first launcher the front has other children as well.
  pid_t launcher() const {
    const auto card = job::Card::load(folder() / "card.json");
    if (!card) throw Error(ErrorCode::NotFound, "the job has no card");
    return card->launcher;
  }

  TemporaryFolder folder_{"scale-test"};
};

TEST_F(ScaleTest, GrowsAndShrinks) {
  Command running(elastic({"-n", "2", "--max-workers", "5"}));
  running.wait_for_output("begun", soon(), 2);
  EXPECT_THAT(tell({"join", "supple"}), HasSubstr("worker 2"));
  running.wait_for_output("begun 3", soon());
  EXPECT_THAT(tell({"jobs"}), HasSubstr("3/3"));
  tell({"scale", "supple", "5"});
  running.wait_for_output("begun 5", soon());
  tell({"scale", "supple", "2"});
  running.wait_for_output("leaves", soon(), 3);
  EXPECT_THAT(running.out(), HasSubstr("worker 4 leaves"));
  EXPECT_THAT(running.out(), Not(HasSubstr("worker 1 leaves")));
  EXPECT_THAT(tell({"scale", "supple", "6"}, 2), HasSubstr("has from 1 to 5 workers, not 6"));
  kill_one(worker_of(running, 0), SIGKILL);
  running.wait_for_output("begun 6", soon());
  finish();
  EXPECT_EQ(running.wait_exit(soon()), 0) << running.error();
  EXPECT_THAT(running.out(), Not(HasSubstr("begun 7"))) << "a worker that left was replaced";
}

TEST_F(ScaleTest, TheJobRestartsWhenNewWorkersHaveNoMembersToJoin) {
  Command running(elastic({"-n", "2"}));
  running.wait_for_output("begun 2", soon());
  kill_one(worker_of(running, 0), SIGKILL);
  running.wait_for_output("begun 3", soon());
  kill_one(worker_of(running, 1), SIGKILL);
  // Worker 2 never was a member: it is killed, and the store has been emptied.
  running.wait_for_output("worker 4 pid", soon());
  EXPECT_THAT(running.error(), HasSubstr("all workers are gone: restarting the job with 2"));
  EXPECT_EQ(kill(worker_of(running, 2), 0), -1);
  running.wait_for_output("begun 2", soon(), 2);
  finish();
  EXPECT_EQ(running.wait_exit(soon()), 0) << running.error();
}

TEST_F(ScaleTest, OnlyElasticJobsScale) {
  Command plain(script({"--name", "stiff"}, "echo up; sleep 1000"));
  plain.wait_for_output("up", soon());
  EXPECT_THAT(tell({"scale", "stiff", "2"}, 2), HasSubstr("job stiff is not elastic"));
  EXPECT_THAT(tell({"join", "stiff"}, 2), HasSubstr("job stiff is not elastic"));
  EXPECT_THAT(tell({"scale", "absent", "2"}, 2), HasSubstr("no job named 'absent'"));
  EXPECT_EQ(tell({"stop", "stiff"}), "");
  EXPECT_EQ(plain.wait_exit(soon()), 143);
}

TEST_F(ScaleTest, AReplacedCoordinatorKeepsTheStore) {
  Command running(elastic({"-n", "2"}));
  running.wait_for_output("begun 2", soon());
  pid_t coordinator = coordinator_after(0);
  for (int i = 0; i < 3; ++i) {
    kill_one(coordinator, SIGKILL);
    coordinator = coordinator_after(coordinator);
  }
  EXPECT_THAT(tell({"join", "supple"}), HasSubstr("worker 2"));
  running.wait_for_output("worker 2 pid", soon());
  EXPECT_THAT(running.out(), HasSubstr("begun 3")) << "the counter continues from the log";
  finish();
  EXPECT_EQ(running.wait_exit(soon()), 0) << running.error();
}

TEST_F(ScaleTest, AReplacedLauncherKeepsReplacingWorkers) {
  Command running(elastic({"-n", "3"}));
  running.wait_for_output("begun 3", soon());
  for (int i = 0; i < 2; ++i) {
    kill_one(launcher(), SIGKILL);
    running.wait_for_output("another launcher takes over", soon(), i + 1);
    kill_one(worker_of(running, i), SIGKILL);
    running.wait_for_output("begun " + std::to_string(4 + i), soon());
  }
  EXPECT_THAT(tell({"jobs"}), HasSubstr("3/3"));
  EXPECT_THAT(running.error(), HasSubstr("worker 1 was lost: killed by signal 9"));
  kill_one(coordinator_after(0), SIGKILL);
  EXPECT_THAT(tell({"join", "supple"}), HasSubstr("worker 5"));
  running.wait_for_output("begun 6", soon());
  finish();
  EXPECT_EQ(running.wait_exit(soon()), 0) << running.error();
}

TEST_F(ScaleTest, AWorkerThatDiesWithItsLauncherIsReplacedByTheNext) {
  Command running(elastic({"-n", "2"}));
  running.wait_for_output("begun 2", soon());
  const pid_t launcher = launcher_of(running);
  kill_one(launcher, SIGSTOP);
  kill_one(worker_of(running, 1), SIGKILL);
  kill_one(launcher, SIGKILL);
  running.wait_for_output("begun 3", soon());
  finish();
  EXPECT_EQ(running.wait_exit(soon()), 0) << running.error();
}

TEST_F(ScaleTest, AReplacedLauncherCanStopTheJob) {
  Command running(elastic({"-n", "2"}));
  running.wait_for_output("begun 2", soon());
  kill_one(launcher_of(running), SIGKILL);
  running.wait_for_output("another launcher takes over", soon());
  EXPECT_EQ(tell({"stop", "supple"}), "");
  EXPECT_EQ(running.wait_exit(soon()), 143);
}

// Its launcher continues to replace workers, and notices the end of workers that it took over
// although no process reports it.
TEST_F(ScaleTest, WithoutItsFrontTheJobContinuesAndCanBeStopped) {
  for (const bool is_taken_over : {false, true}) {
    Command running(elastic({"-n", "2"}));
    running.wait_for_output("begun 2", soon());
    if (is_taken_over) {
      kill_one(launcher(), SIGKILL);
      running.wait_for_output("another launcher takes over", soon());
      EXPECT_THAT(tell({"jobs"}), HasSubstr("2/2"));
    }
    running.signal(SIGKILL);
    running.wait_for_output("the job continues for 60 s and then ends", soon());
    kill_one(worker_of(running, 1), SIGKILL);
    running.wait_for_output("begun 3", soon());
    EXPECT_TRUE(std::filesystem::exists(folder()));
    EXPECT_EQ(tell({"stop", "supple"}), "");
    EXPECT_THAT(state_.leftovers(soon()), ::testing::IsEmpty());
  }
}

TEST_F(ScaleTest, EndsSomeTimeAfterItsFrontWasKilled) {
  Command running(elastic({"-n", "2", "--orphan-timeout", "1"}));
  running.wait_for_output("begun 2", soon());
  const auto begin = std::chrono::steady_clock::now();
  running.signal(SIGKILL);
  EXPECT_THAT(state_.leftovers(soon()), ::testing::IsEmpty());
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 900ms) << "the job ended too early";
  EXPECT_EQ(running.wait_exit(soon()), 137);
  EXPECT_THAT(running.error(), HasSubstr("no process watches the job any more: ending it"));
}

// Paths of sockets in it are too long for an address.
TEST_F(ScaleTest, RunsInALongRuntimeFolder) {
  const std::filesystem::path deep = state_.runtime() / std::string(150, 'd');
  std::filesystem::create_directory(deep);
  const testing::ScopedVariable variable("XDG_RUNTIME_DIR", deep.string());
  Command running(elastic({"-n", "2"}));
  running.wait_for_output("begun 2", soon());
  EXPECT_TRUE(std::filesystem::is_socket(deep / "trireme/supple/store.sock"));
  EXPECT_THAT(tell({"jobs"}), HasSubstr("2/2"));
  EXPECT_EQ(tell({"stop", "supple"}), "");
  EXPECT_EQ(running.wait_exit(soon()), 143);
  std::filesystem::remove_all(deep);
}

TEST_F(ScaleTest, WithoutAWatchingProcessTheJobEndsByItself) {
  for (const bool is_coordinator_killed : {false, true}) {
    Command running(elastic({"-n", "2", "--orphan-timeout", "0.5"}));
    running.wait_for_output("begun 2", soon());
    const pid_t launcher = launcher_of(running);
    kill_one(launcher, SIGSTOP);
    running.signal(SIGKILL);
    if (is_coordinator_killed) kill_one(coordinator_after(0), SIGKILL);
    const auto begin = std::chrono::steady_clock::now();
    kill_one(launcher, SIGKILL);
    const pid_t worker = worker_of(running, 0);
    for (const Deadline deadline = soon(); kill(worker, 0) == 0 && !deadline.is_past();) {
      cluster::launch::host::reap_children([](pid_t, int) {});
    }
    const auto lived = std::chrono::steady_clock::now() - begin;
    EXPECT_GT(lived, 250ms) << "workers continue for a while without a watching process";
    // Without a coordinator the folder remains until the next job of this user.
    if (is_coordinator_killed) {
      EXPECT_EQ(Command(script({}, "true")).wait_exit(soon()), 0);
    }
    EXPECT_THAT(state_.leftovers(soon()), ::testing::IsEmpty());
  }
}

}  // namespace
}  // namespace trireme
