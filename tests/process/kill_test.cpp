// Goal:   whichever process is killed with kill -9 (a rank, one or two of the processes that watch
//         the job), no process of the job survives, no folder remains, and it takes no time.
// Method: the real program; ranks that also start children which leave their session and parents.

#include <signal.h>
#include <unistd.h>

#include "tests/process/job_fixture.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/watch/warden.h"

namespace trireme {
namespace {

// Each rank: a child, a daemon that ignores SIGTERM, SIGINT and SIGHUP, one without an environment,
// and the rank itself.
constexpr const char* kFamily =
    "trap '' TERM INT HUP; "
    "(trap '' TERM INT HUP; exec setsid sleep 1000) & "
    "(setsid sh -c 'trap \"\" TERM INT HUP; sleep 1000 & echo up; wait' &) ; "
    "(setsid env -i /bin/sh -c 'sleep 1000 & echo bare; wait' &) ; "
    "echo rank $$; wait";

class KillTest : public JobTest {
 protected:
  KillTest() : job_(script({"-n", "3", "--name", "victim", "--grace", "0.2"}, kFamily)) {
    job_.wait_for_output("] rank ", soon(), 3);
    job_.wait_for_output("] up", soon(), 3);
    job_.wait_for_output("] bare", soon(), 3);
    EXPECT_GE(state_.processes().size(), 18u) << "front, warden, launcher, 3 ranks and 4 of each";
  }
  // Stopped first, so that neither has time to react to the other's death.
  void kill_at_once(const std::vector<pid_t>& victims) {
    for (const pid_t victim : victims) kill_one(victim, SIGSTOP);
    for (const pid_t victim : victims) kill_one(victim, SIGKILL);
  }
  // Waits until no process of the job is alive.
  void expect_all_die() {
    for (const Deadline deadline = soon(); !state_.processes().empty();) {
      if (deadline.is_past()) {
        ADD_FAILURE() << "something survives";
        break;
      }
      job_.has_ended_soon();
    }
  }

  struct Job : Command {
    using Command::Command;
    // Reaps repeatedly, so that a dead front is no longer a process.
    void has_ended_soon() {
      try {
        wait_exit(Deadline::after(1ms));
      } catch (const Error&) {
      }
    }
  };

  Job job_;
};

TEST_F(KillTest, NothingSurvivesTheKillOfARank) {
  const pid_t victim = pid_after(job_, "[1] rank ");
  kill_one(victim, SIGKILL);
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(),
              HasSubstr("trireme: rank 1 failed: killed by signal 9 (kill -9 or another process)"));
  EXPECT_THAT(job_.error(), HasSubstr("    rank " + std::to_string(victim)));
  expect_all_die();
}

TEST_F(KillTest, NothingSurvivesTheKillOfAllRanks) {
  for (const char* rank : {"[0] rank ", "[1] rank ", "[2] rank "}) {
    kill_one(pid_after(job_, rank), SIGKILL);
  }
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  expect_all_die();
}

TEST_F(KillTest, NothingSurvivesTheKillOfTheLauncher) {
  kill_one(launcher_of(job_), SIGKILL);
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(), HasSubstr("the launcher was killed by signal 9; every process of the "
                                      "job was ended"));
  EXPECT_THAT(job_.error(), Not(HasSubstr("warden"))) << "reported once";
  expect_all_die();
}

TEST_F(KillTest, NothingSurvivesTheKillOfTheFront) {
  job_.signal(SIGKILL);
  expect_all_die();
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(), HasSubstr("was killed; ending the job"));
}

TEST_F(JobTest, WhenTheFrontIsKilledNoRankIsBlamed) {
  const TemporaryFolder folder("kill-test");
  const std::string kept = folder.path() / "kept";
  Command job(script({"-n", "2", "--output", kept}, "echo up; exec sleep 1000"));
  job.wait_for_output("] up", soon(), 2);
  job.signal(SIGKILL);
  EXPECT_THAT(state_.leftovers(soon()), ::testing::IsEmpty());
  const std::string events = read_file(kept + "/events.jsonl");
  EXPECT_THAT(events, HasSubstr("\"why\":\"`trireme run` was killed\""));
  EXPECT_THAT(events, Not(HasSubstr("failed")));
}

TEST_F(KillTest, NothingSurvivesTheKillOfTheFrontsGroup) {
  // Like `kill -9 %1` in a shell: the launcher has its own process group.
  kill_one(job_.pid(), SIGKILL);
  kill_one(pid_after(job_, "[0] rank "), SIGKILL);
  expect_all_die();
}

TEST_F(KillTest, NothingSurvivesTheKillOfTheWarden) {
  kill_one(warden_of(job_.pid()), SIGKILL);
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(), HasSubstr("the launcher's warden was killed by signal 9; every process "
                                      "of the job was ended"));
  expect_all_die();
}

// Like `killall -9 trireme` and `pkill -9 -f trireme`, without another job that sweeps.
TEST_F(KillTest, NothingSurvivesTheKillOfEveryTriremeProcess) {
  std::vector<pid_t> named;
  for (const pid_t pid : state_.processes()) {
    const std::string file = "/proc/" + std::to_string(pid);
    const bool is_named = read_file(file + "/comm").find("trireme") != std::string::npos ||
                          read_file(file + "/cmdline").find("trireme") != std::string::npos;
    if (is_named) named.push_back(pid);
  }
  EXPECT_EQ(named.size(), 2u) << "front and launcher";
  kill_at_once(named);
  expect_all_die();
  EXPECT_THAT(state_.leftovers(soon()), ::testing::IsEmpty());
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(), HasSubstr("the launcher was killed by signal 9; every process of the "
                                      "job was ended"));
}

TEST_F(KillTest, NothingSurvivesTheKillOfFrontAndWarden) {
  kill_at_once({warden_of(job_.pid()), job_.pid()});
  expect_all_die();
}

TEST_F(KillTest, NothingSurvivesTheKillOfWardenAndLauncher) {
  kill_at_once({launcher_of(job_), warden_of(job_.pid())});
  EXPECT_EQ(job_.wait_exit(soon()), 137);
  EXPECT_THAT(job_.error(), HasSubstr("the launcher's warden was killed by signal 9; every process "
                                      "of the job was ended"));
  expect_all_die();
}

// The front then finds no process of the job that would tell it what happened.
TEST_F(JobTest, TheDeathOfWardenLauncherAndRankAtOnceIsReported) {
  Command job(script({"-n", "1"}, "echo rank $$; exec sleep 1000"));
  const std::vector<pid_t> victims{pid_after(job, "[0] rank "), launcher_of(job),
                                   warden_of(job.pid())};
  for (const pid_t victim : victims) kill_one(victim, SIGSTOP);
  for (const pid_t victim : victims) kill_one(victim, SIGKILL);
  EXPECT_EQ(job.wait_exit(soon()), 137);
  EXPECT_THAT(job.error(), HasSubstr("the launcher's warden was killed by signal 9; every process "
                                     "of the job was ended"));
}

TEST_F(JobTest, DaemonsOfARankThatSucceedsAreKilled) {
  Command job(script({"-n", "2"}, "setsid sleep 1000 & (setsid sleep 1000 &); exit 0"));
  EXPECT_EQ(job.wait_exit(soon()), 0);
}

TEST_F(JobTest, AJobInsideAJobDiesWithIt) {
  Command job(script({"-n", "1", "--name", "outer", "--grace", "0.1"},
                     program() + " run -n 2 --name inner -- /bin/sh -c 'echo up; sleep 1000'"));
  job.wait_for_output("up", soon(), 2);
  job.signal(SIGKILL);
  // The outer launcher kills the inner job's watching processes at once, and sweeps after them.
  EXPECT_THAT(state_.leftovers(soon()), ::testing::IsEmpty());
}

}  // namespace
}  // namespace trireme
