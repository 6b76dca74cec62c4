// Goal:   each kind of exit is described so that a user knows what to do, and the blamed rank is
//         the one that failed first.
// Method: handwritten wait statuses, and realistic sequences of exits.

#include "trireme/cluster/launch/rank/rank_exit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace trireme::cluster::launch {
namespace {

using host::OomKill;
using ::testing::HasSubstr;

RankExit exited(int rank, int code, int signal_sent = 0) {
  return {.rank = rank, .status = code << 8, .signal_sent = signal_sent};
}
RankExit killed(int rank, int signal, int signal_sent = 0, OomKill oom = OomKill::No) {
  return {.rank = rank, .status = signal, .signal_sent = signal_sent, .oom = oom};
}

TEST(RankExit, IsDescribed) {
  EXPECT_EQ(describe(exited(0, 3)), "exit code 3");
  EXPECT_EQ(describe(killed(0, SIGSEGV)), "killed by signal 11 (segmentation fault)");
  EXPECT_EQ(describe(killed(0, SIGKILL)), "killed by signal 9 (kill -9 or another process)");
  EXPECT_EQ(describe(killed(0, SIGKILL, 0, OomKill::Proven)),
            "killed by the kernel's out-of-memory killer");
  EXPECT_THAT(describe(killed(0, SIGKILL, 0, OomKill::Likely)), HasSubstr("probably"));
  EXPECT_THAT(describe(killed(0, SIGABRT)), HasSubstr("uncaught exception"));
  EXPECT_EQ(describe(killed(0, SIGUSR1)), "killed by signal 10 (SIGUSR1)");
  EXPECT_THAT(describe(exited(0, 137)), HasSubstr("SIGKILL"));
  EXPECT_THAT(describe(exited(0, kExitPeerLost)), HasSubstr("lost a peer"));
  RankExit stillborn = exited(0, 126);
  stillborn.not_started = "could not be started: execve: no";
  EXPECT_EQ(describe(stillborn), "could not be started: execve: no");
}

TEST(RankExit, HasAnExitCode) {
  EXPECT_EQ(exit_code_of(exited(0, 0)), 0);
  EXPECT_EQ(exit_code_of(exited(0, 255)), 255);
  EXPECT_EQ(exit_code_of(killed(0, SIGTERM)), 143);
}

TEST(RankExit, NoRankIsBlamedForSuccessOrForARequestedEnd) {
  EXPECT_EQ(blame({}), std::nullopt);
  EXPECT_EQ(blame(std::vector{exited(0, 0), exited(1, 0)}), std::nullopt);
  EXPECT_EQ(blame(std::vector{killed(0, SIGTERM, SIGTERM), exited(1, 1, SIGTERM),
                              killed(2, SIGSEGV, SIGTERM), killed(3, SIGKILL, SIGKILL)}),
            std::nullopt);
}

TEST(RankExit, OfEqualFailuresTheFirstIsBlamed) {
  EXPECT_EQ(blame(std::vector{exited(3, 0), exited(2, 3), exited(0, 1)}), 1u);
  EXPECT_EQ(blame(std::vector{exited(2, 3), killed(0, SIGABRT)}), 0u);
}

TEST(RankExit, ADeathBySignalOutweighsThePeersReactions) {
  // The survivors were seen dead first, while the kernel was still releasing the memory of rank 2.
  EXPECT_EQ(blame(std::vector{exited(0, 1), killed(1, SIGABRT), killed(2, SIGSEGV)}), 2u);
  EXPECT_EQ(blame(std::vector{exited(0, 1), killed(2, SIGKILL)}), 1u);
}

TEST(RankExit, ALostPeerIsNotTheCauseIfThereIsAnother) {
  EXPECT_EQ(blame(std::vector{exited(0, kExitPeerLost), exited(2, 3)}), 1u);
  EXPECT_EQ(blame(std::vector{exited(0, kExitPeerLost), exited(1, kExitPeerLost)}), 0u);
}

// It was still ending when a peer that had lost it failed, and the launcher asked all ranks to end.
TEST(RankExit, ALostPeerThatWasAskedToEndWhileItFailedIsBlamed) {
  EXPECT_EQ(blame(std::vector{exited(1, kExitPeerLost), exited(0, 1, SIGTERM)}), 1u);
  EXPECT_EQ(blame(std::vector{exited(1, kExitPeerLost), exited(2, kExitPeerLost, SIGTERM),
                              killed(0, SIGSEGV, SIGTERM)}),
            2u);
  EXPECT_EQ(blame(std::vector{exited(1, kExitPeerLost), killed(0, SIGTERM, SIGTERM),
                              exited(2, 143, SIGTERM), exited(3, 0, SIGTERM)}),
            0u);
  EXPECT_EQ(blame(std::vector{exited(2, 3), exited(1, kExitPeerLost), exited(0, 1, SIGTERM)}), 0u);
}

TEST(RankExit, ASigkillThatTheLauncherDidNotSendIsAFailure) {
  EXPECT_EQ(blame(std::vector{killed(1, SIGKILL, SIGTERM)}), 0u);
}

}  // namespace
}  // namespace trireme::cluster::launch
