// Goal:   whoever is killed with kill -9 (a rank, the launcher, the front, several), no process of
//         the job survives, no folder stays, and it takes no time.
// Method: the real program; ranks that also start children which leave their session and parents.

#include <signal.h>
#include <unistd.h>

#include "tests/process/job_fixture.h"
#include "trireme/base/file.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/testing/in_time.h"

namespace trireme {
namespace {

// Each rank: a child, a daemon that ignores polite signals, and itself.
constexpr const char* kFamily =
    "trap '' TERM INT HUP; "
    "(trap '' TERM INT HUP; exec setsid sleep 1000) & "
    "(setsid sh -c 'trap \"\" TERM INT HUP; sleep 1000 & echo up; wait' &) ; "
    "echo rank $$; wait";

class KillTest : public JobTest {
 protected:
  KillTest() : job_(script({"-n", "3", "--name", "victim", "--grace", "0.2"}, kFamily)) {
    job_.wait_for_output("] rank ", soon(), 3);
    job_.wait_for_output("] up", soon(), 3);
    EXPECT_GE(state_.processes().size(), 11u) << "front, launcher, 3 ranks, 6 daemons";
  }
  // From now until nothing of the job lives.
  std::chrono::nanoseconds time_to_die() {
    const auto begin = std::chrono::steady_clock::now();
    while (!state_.processes().empty()) {
      if (std::chrono::steady_clock::now() - begin > 10s) {
        ADD_FAILURE() << "something survives";
        break;
      }
      job_.has_ended_soon();
    }
    return std::chrono::steady_clock::now() - begin;
  }

  struct Job : Command {
    using Command::Command;
    // Keeps reaping, so that a dead front is no longer a process.
    void has_ended_soon() {
      try {
        wait_exit(Deadline::after(1ms));
      } catch (const Error&) {
      }
    }
  };

  Job job_;
};

TEST_F(KillTest, ARank) {
  const pid_t victim = pid_after(job_, "[1] rank ");
  kill_one(victim, SIGKILL);
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(),
              HasSubstr("trireme: rank 1 failed: killed by signal 9 (kill -9 or another process)"));
  EXPECT_THAT(job_.error(), HasSubstr("    rank " + std::to_string(victim)));
  testing::expect_in_time(time_to_die(), 3s);
}

TEST_F(KillTest, AllRanksAtOnce) {
  for (const char* rank : {"[0] rank ", "[1] rank ", "[2] rank "}) {
    kill_one(pid_after(job_, rank), SIGKILL);
  }
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  testing::expect_in_time(time_to_die(), 3s);
}

TEST_F(KillTest, TheLauncher) {
  kill_one(launcher_of(job_), SIGKILL);
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(), HasSubstr("the launcher was killed by signal 9; every process of the "
                                      "job was ended"));
  testing::expect_in_time(time_to_die(), 3s);
}

TEST_F(KillTest, TheFront) {
  job_.signal(SIGKILL);
  testing::expect_in_time(time_to_die(), 3s);
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(), HasSubstr("was killed; ending the job"));
}

TEST_F(JobTest, WhenTheFrontIsKilledNoRankIsToBlame) {
  const TemporaryFolder folder("kill-test");
  const std::string kept = folder.path() / "kept";
  Command job(script({"-n", "2", "--output", kept}, "echo up; exec sleep 1000"));
  job.wait_for_output("] up", soon(), 2);
  job.signal(SIGKILL);
  EXPECT_THAT(state_.leftovers(Deadline::after(5s)), ::testing::IsEmpty());
  const std::string events = read_file(kept + "/events.jsonl");
  EXPECT_THAT(events, HasSubstr("\"why\":\"`trireme run` was killed\""));
  EXPECT_THAT(events, Not(HasSubstr("failed")));
}

TEST_F(KillTest, TheFrontsWholeGroup) {
  // As `kill -9 %1` does in a shell: the launcher is in a group of its own.
  kill_one(job_.pid(), SIGKILL);
  kill_one(pid_after(job_, "[0] rank "), SIGKILL);
  testing::expect_in_time(time_to_die(), 3s);
}

TEST_F(KillTest, FrontAndLauncherAtOnceIsSweptByTheNextRun) {
  const pid_t launcher = launcher_of(job_);
  const pid_t rank = pid_after(job_, "[0] rank ");
  kill_one(launcher, SIGSTOP);
  job_.signal(SIGKILL);
  kill_one(launcher, SIGKILL);
  // The ranks die with the launcher; their daemons may not, which docs/jobs.md admits.
  const auto begin = std::chrono::steady_clock::now();
  while (kill(rank, 0) == 0 && std::chrono::steady_clock::now() - begin < 5s) {
    cluster::launch::host::reap_children([](pid_t, int) {});
  }
  testing::expect_in_time(std::chrono::steady_clock::now() - begin, 3s);
  Command next(script({}, "true"));
  EXPECT_EQ(next.wait_exit(soon()), 0);
  testing::expect_in_time(time_to_die(), 3s);
}

TEST_F(JobTest, ARankThatEndsWellTakesItsDaemonsAlong) {
  Command job(script({"-n", "2"}, "setsid sleep 1000 & (setsid sleep 1000 &); exit 0"));
  EXPECT_EQ(job.wait_exit(soon()), 0);
  testing::expect_in_time(job.elapsed(), 3s);
}

TEST_F(JobTest, AJobInsideAJobDiesWithIt) {
  Command job(script({"-n", "1", "--name", "outer", "--grace", "0.1"},
                     program() + " run -n 2 --name inner -- /bin/sh -c 'echo up; sleep 1000'"));
  job.wait_for_output("up", soon(), 2);
  job.signal(SIGKILL);
  // The outer launcher kills the inner job's two watchers at once, and sweeps after them.
  EXPECT_THAT(state_.leftovers(Deadline::after(5s)), ::testing::IsEmpty());
}

}  // namespace
}  // namespace trireme
