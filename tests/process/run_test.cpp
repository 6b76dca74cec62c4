// Goal:   `trireme run` starts ranks quickly, sets their environment, and ends with the right exit
//         code and final report.
// Method: the real program with shell scripts as ranks.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "tests/folders.h"
#include "tests/process/job_fixture.h"
#include "trireme/base/file/file.h"
#include "trireme/cluster/launch/launcher.h"
#include "trireme/cluster/launch/rank/program.h"
#include "trireme/cluster/launch/spec.h"
#include "trireme/cluster/launch/watch/front.h"

namespace trireme {
namespace {

using RunTest = JobTest;

TEST_F(RunTest, EveryRankGetsItsRankAndSize) {
  Command job(
      script({"-n", "3", "--name", "demo"},
             "echo $TRIREME_RANK/$TRIREME_SIZE $TRIREME_LOCAL_RANK/$TRIREME_LOCAL_SIZE "
             "$TRIREME_JOB $TRIREME_STORE; test -S ${TRIREME_STORE#unix:} && "
             "test $(stat -c %a $TRIREME_SECRET_FILE) = 600 && test -z \"$TRIREME_SECRET\""));
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  for (int rank = 0; rank < 3; ++rank) {
    const std::string number = std::to_string(rank);
    EXPECT_THAT(job.out(), HasSubstr("[" + number + "] " + number + "/3 " + number + "/3 demo " +
                                     "unix:" + (state_.runtime() / "trireme/demo").string()));
  }
}

TEST_F(RunTest, TheSecretIsOnNoCommandLineAndInNoEnvironment) {
  Command job(script({},
                     "test $(tr -d '\\n' < $TRIREME_SECRET_FILE | wc -c) = 64 || exit 4; "
                     "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | "
                     "grep -c -f $TRIREME_SECRET_FILE; "
                     "grep -c -f $TRIREME_SECRET_FILE /proc/self/environ; exit 0"));
  EXPECT_EQ(job.wait_exit(soon()), 0);
  EXPECT_EQ(job.out(), "[0] 0\n[0] 0\n");
}

TEST_F(RunTest, TheExitCodeIsTheFirstFailingRanks) {
  Command job(script({"-n", "3"},
                     "if [ $TRIREME_RANK = 1 ]; then echo last words; exit 3; fi; exec sleep 100"));
  EXPECT_EQ(job.wait_exit(soon()), 3);
  EXPECT_THAT(job.error(), HasSubstr("trireme: rank 1 failed: exit code 3\n"
                                     "trireme: its last output:\n    last words\n"));
}

TEST_F(RunTest, SignalsAndExceptionsAreReported) {
  Command segv(script({}, "kill -SEGV $$"));
  EXPECT_EQ(segv.wait_exit(soon()), 139);
  EXPECT_THAT(segv.error(), HasSubstr("rank 0 failed: killed by signal 11 (segmentation fault)"));
  const std::string thrower = build_folder() + "/tests/thrower";
  Command thrown({.command = {program(), "run", "-n", "2", thrower}});
  EXPECT_EQ(thrown.wait_exit(soon()), 134);
  EXPECT_THAT(thrown.error(), HasSubstr("killed by signal 6 (abort: an uncaught exception"));
  EXPECT_THAT(thrown.error(), HasSubstr("\n      what():  the sky is falling"));
}

TEST_F(RunTest, InvalidCommandsAreReportedBeforeAnythingStarts) {
  for (const Words& words : {Words{"-n", "2", "./no-such-program"}, Words{"-n", "2", "/etc/passwd"},
                             Words{"-n", "2", "/tmp"}, Words{"-n", "0", "true"}, Words{}}) {
    Words command{program(), "run"};
    command.insert(command.end(), words.begin(), words.end());
    Command job({.command = command});
    EXPECT_EQ(job.wait_exit(soon()), 2);
    EXPECT_TRUE(job.error().starts_with("trireme: ")) << job.error();
    EXPECT_EQ(job.out(), "");
  }
}

TEST_F(RunTest, AMissingInterpreterIsARanksFailure) {
  const TemporaryFolder folder("run-test");
  const auto path = folder.path() / "script";
  std::ofstream(path) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  Command job({.command = {program(), "run", "-n", "2", path}});
  EXPECT_EQ(job.wait_exit(soon()), 127);
  EXPECT_THAT(job.error(), HasSubstr("could not be started: execve"));
}

TEST_F(RunTest, TooFewDescriptorsAreReported) {
  Command job(
      {.command = {"/bin/sh", "-c", "ulimit -n 40; exec " + program() + " run -n 30 true"}});
  EXPECT_EQ(job.wait_exit(soon()), 2);
  EXPECT_THAT(job.error(),
              HasSubstr("open files, and 40 are allowed (ulimit -Hn): not even -n 1 fits here"));
}

TEST_F(RunTest, StandardInputGoesToRankZero) {
  Command job(script({"-n", "2"}, "cat; echo done"));
  job.type("for rank zero\n");
  job.close_input();
  EXPECT_EQ(job.wait_exit(soon()), 0);
  EXPECT_THAT(job.out(), HasSubstr("[0] for rank zero\n"));
  EXPECT_THAT(job.out(), Not(HasSubstr("[1] for")));
}

TEST_F(RunTest, WarnsAboutTooManyRanks) {
  const auto cores = std::thread::hardware_concurrency();
  Command job(script({"-n", std::to_string(cores + 1)}, "echo $OMP_NUM_THREADS $TRIREME_THREADS"));
  EXPECT_EQ(job.wait_exit(soon()), 0);
  EXPECT_THAT(job.error(), HasSubstr("warning: " + std::to_string(cores + 1) + " ranks"));
  EXPECT_THAT(job.out(), HasSubstr("[0] 1 1\n"));
  Command fitting(script({"-n", "1"}, "true"));
  EXPECT_EQ(fitting.wait_exit(soon()), 0);
  EXPECT_EQ(fitting.error(), "");
}

TEST_F(RunTest, CoresAreDistributedAndTheUsersThreadCountIsKept) {
  const auto cores = std::thread::hardware_concurrency();
  if (cores < 2) GTEST_SKIP() << "needs two cores";
  auto options =
      script({"-n", "2"}, "grep Cpus_allowed_list /proc/self/status; echo $OMP_NUM_THREADS");
  options.environment["OMP_NUM_THREADS"] = "7";
  Command job(options);
  EXPECT_EQ(job.wait_exit(soon()), 0);
  EXPECT_THAT(job.out(), HasSubstr("[0] 7\n")) << "the user's own number";
  EXPECT_THAT(job.error(), HasSubstr("2 ranks with 7 threads each"));
  const auto mask = [&](char rank) {
    const std::size_t at = job.out().find(std::string("[") + rank + "] Cpus");
    return job.out().substr(at + 4, job.out().find('\n', at) - at - 4);
  };
  EXPECT_NE(mask('0'), mask('1'));
  options = script({"-n", "2", "--bind", "none"}, "grep Cpus_allowed_list /proc/self/status");
  Command free(options);
  EXPECT_EQ(free.wait_exit(soon()), 0);
  EXPECT_EQ(std::count(free.out().begin(), free.out().end(), '-'), 2) << free.out();
}

TEST_F(RunTest, AJobInsideAJobHasItsOwnWorld) {
  Command job(script({"-n", "2", "--name", "outer"},
                     program() + " run -n 3 --name inner-$TRIREME_RANK -- /bin/sh -c "
                                 "'echo $TRIREME_JOB $TRIREME_RANK/$TRIREME_SIZE'"));
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.out(), HasSubstr("[1] [2] inner-1 2/3\n"));
}

TEST_F(RunTest, OutputIsWrittenToTheRequestedFolder) {
  const TemporaryFolder folder("run-test");
  const auto kept = folder.path() / "a/b";
  Command job(script({"-n", "2", "--output", kept},
                     "echo to $TRIREME_RANK; [ $TRIREME_RANK = 1 ] && exit 0; "
                     "until grep -q 'to 1' " +
                         kept.string() + "/rank-1.log; do sleep 0.02; done; exit 5"));
  EXPECT_EQ(job.wait_exit(soon()), 5);
  EXPECT_THAT(read_file(kept / "rank-1.log"), HasSubstr("to 1\n"));
  EXPECT_THAT(read_file(kept / "events.jsonl"), HasSubstr("\"event\":\"job started\""));
  EXPECT_THAT(read_file(kept / "events.jsonl"), HasSubstr("\"event\":\"job ended\",\"code\":5"));
  EXPECT_TRUE(std::filesystem::exists(kept / "metrics.jsonl"));
}

TEST_F(RunTest, OutputFilesArePrivateAndFollowNoLink) {
  const TemporaryFolder folder("run-test");
  const auto kept = folder.path() / "kept";
  Command wrong(script({"-n", "0", "--output", kept}, "true"));
  EXPECT_EQ(wrong.wait_exit(soon()), 2);
  EXPECT_FALSE(std::filesystem::exists(kept)) << "made for a job that never was";
  Command job(script({"--output", kept}, "echo hello"));
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_EQ(std::filesystem::status(kept / "rank-0.log").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const auto precious = folder.path() / "precious";
  write_file_atomically(precious, std::string_view("mine"));
  std::filesystem::remove(kept / "rank-0.log");
  std::filesystem::create_symlink(precious, kept / "rank-0.log");
  Command linked(script({"--output", kept}, "echo hello"));
  EXPECT_EQ(linked.wait_exit(soon()), 1);
  EXPECT_EQ(read_file(precious), "mine");
  Command file(script({"--output", precious}, "true"));
  EXPECT_EQ(file.wait_exit(soon()), 2);
}

TEST_F(RunTest, CanBeCalledAsALibrary) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(cluster::launch::run_job({.command = {"sh", "-c", "exit 9"},
                                    .program = cluster::launch::find_program("sh"),
                                    .ranks = 2}));
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

}  // namespace
}  // namespace trireme
