// Goal:   Ctrl-C, Ctrl-Z and kill do what a user expects, each rank gets a signal once, and a rank
//         that does not react is killed in time.
// Method: the real program at its own terminal, and with signals sent to its front.

#include <signal.h>

#include <thread>

#include "tests/process/job_fixture.h"

namespace trireme {
namespace {

class SignalTest : public JobTest {
 protected:
  static Command::Options at_terminal(Command::Options options) {
    options.is_terminal = true;
    options.environment["NO_COLOR"] = "1";
    return options;
  }
  static int count(const std::string& text, const std::string& word) {
    int found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      ++found;
    }
    return found;
  }
};

TEST_F(SignalTest, CtrlCSignalsEachRankOnce) {
  Command job(at_terminal(script({"-n", "3"},
                                 "trap 'echo interrupted; exit 0' INT; echo up; "
                                 "while :; do sleep 0.05; done")));
  job.wait_for_output("] up", soon(), 3);
  job.type("\x03");
  EXPECT_EQ(job.wait_exit(soon()), 130);
  EXPECT_EQ(count(job.out(), " interrupted\r\n"), 3) << job.out();
}

TEST_F(SignalTest, ASecondCtrlCKills) {
  Command job(at_terminal(script({"-n", "2", "--grace", "100"},
                                 "trap '' INT TERM; echo up; while :; do sleep 0.05; done")));
  job.wait_for_output("] up", soon(), 2);
  job.type("\x03");
  job.wait_for_output("Ctrl-C again kills", soon());
  std::this_thread::sleep_for(250ms);  // a faster repetition counts as an echo
  job.type("\x03");
  EXPECT_EQ(job.wait_exit(soon()), 130);
}

// timeout(1) signals the process and then its whole group.
TEST_F(SignalTest, ASignalThatArrivesTwiceAtOnceCountsOnce) {
  auto options = script({"-n", "2", "--grace", "100"},
                        "trap 'sleep 0.5; echo saved; exit 0' INT; echo up; "
                        "while :; do sleep 0.05; done");
  const std::vector<std::string> timeout{"timeout", "-s", "INT", "1"};
  options.command.insert(options.command.begin(), timeout.begin(), timeout.end());
  Command job(options);
  EXPECT_EQ(job.wait_exit(soon()), 124) << "the exit code of timeout(1)";
  EXPECT_EQ(count(job.out(), "saved\n"), 2) << job.out() << job.error();
}

TEST_F(SignalTest, ARankThatIgnoresSignalsIsKilledAfterTheGraceTime) {
  Command job(script({"-n", "2", "--grace", "0.3"},
                     "trap '' INT TERM; echo up; while :; do sleep 0.05; done"));
  job.wait_for_output("] up", soon(), 2);
  const auto begin = std::chrono::steady_clock::now();
  job.signal(SIGINT);
  EXPECT_EQ(job.wait_exit(soon()), 130);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, 590ms) << "0.3 s for SIGINT and 0.3 s for SIGTERM";
}

TEST_F(SignalTest, ARankThatIgnoresInterruptGetsTermBeforeKill) {
  Command job(script({"--grace", "1.5"},
                     "trap '' INT; trap 'echo saved; exit 0' TERM; echo up; "
                     "while :; do sleep 0.05; done"));
  job.wait_for_output("] up", soon());
  job.signal(SIGINT);
  EXPECT_EQ(job.wait_exit(soon()), 130);
  EXPECT_THAT(job.out(), HasSubstr("[0] saved\n"));
}

TEST_F(SignalTest, EndingSignalsAreForwardedAndSetTheExitCode) {
  for (const auto& [number, name] :
       {std::pair{SIGTERM, "TERM"}, {SIGHUP, "HUP"}, {SIGQUIT, "QUIT"}}) {
    Command job(script({"-n", "2"}, std::string("trap 'echo bye; exit 0' ") + name +
                                        "; echo up; while :; do sleep 0.05; done"));
    job.wait_for_output("] up", soon(), 2);
    job.signal(number);
    EXPECT_EQ(job.wait_exit(soon()), 128 + number);
    EXPECT_EQ(count(job.out(), "bye\n"), 2) << name;
    EXPECT_THAT(job.error(), HasSubstr(std::string("SIG") + name));
  }
}

TEST_F(SignalTest, UserSignalsAreForwardedAndEndNothing) {
  Command job(script({"-n", "2"},
                     "trap 'echo usr1' USR1; trap 'echo usr2; exit 0' USR2; echo up; "
                     "while :; do sleep 0.05; done"));
  job.wait_for_output("] up", soon(), 2);
  job.signal(SIGUSR1);
  job.wait_for_output("usr1", soon(), 2);
  job.signal(SIGUSR2);
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_EQ(count(job.out(), "usr1"), 2);
}

TEST_F(SignalTest, TheLauncherMayBeSignalledToo) {
  Command job(script({"-n", "2"}, "echo up; exec sleep 1000"));
  job.wait_for_output("] up", soon(), 2);
  kill_one(launcher_of(job), SIGTERM);
  EXPECT_EQ(job.wait_exit(soon()), 143);
}

TEST_F(SignalTest, NohupIsRespected) {
  auto options = script({}, "echo up; sleep 0.3; echo done");
  options.command.insert(options.command.begin(), "nohup");
  Command job(options);
  job.wait_for_output("] up", soon());
  job.signal(SIGHUP);
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.out(), HasSubstr("[0] done\n"));
}

TEST_F(SignalTest, CtrlZStopsRanksAndContinues) {
  // A shell with job control between the terminal and the job, as an interactive user has.
  Command shell(at_terminal({.command = {"/bin/bash", "--norc", "-i"}}));
  shell.type("PS1='$ '; " + program() +
             " run -- /bin/sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo tick $i; "
             "sleep 0.02; done'\n");
  shell.wait_for_output("[0] tick 3", soon());
  shell.type("\x1a");
  shell.wait_for_output("Stopped", soon());
  shell.type("echo mark-$((40+2)); sleep 0.3; echo after-$((40+2))\n");
  shell.wait_for_output("after-42", soon());
  const std::size_t mark = shell.out().find("mark-42");
  EXPECT_EQ(shell.out().find("tick", mark), std::string::npos)
      << "a rank ran while the job was stopped";
  shell.type("fg\n");
  const std::size_t begin = shell.out().size();
  const Deadline deadline = soon();
  while (shell.out().find("[0] tick", begin) == std::string::npos && !deadline.is_past()) {
    shell.wait_for_output("tick", deadline, count(shell.out(), "tick") + 1);
  }
  shell.type("\x03");
  shell.wait_for_output("interrupted", soon());
  shell.type("exit 0\n");
  shell.wait_exit(soon());
}

}  // namespace
}  // namespace trireme
