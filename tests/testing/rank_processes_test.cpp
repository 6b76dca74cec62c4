// Goal:   rank processes exchange lines with their test, die when killed, and never outlive the
//         test.
// Method: small bodies; the process table is checked afterwards.

#include "trireme/testing/rank_processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trireme/base/error.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;

Deadline soon() {
  return Deadline::after(30s);
}

TEST(RanksAsProcesses, EachRankIsAProcessThatHearsAndSays) {
  const auto body = [](RankChannel& channel) {
    channel.say(std::to_string(channel.rank()) + " of " + std::to_string(channel.count()));
    channel.say("heard " + channel.hear() + " in " + std::getenv("TEST_VALUE"));
  };
  for (const int count : {1, 3}) {
    RankProcesses ranks({.count = count, .environment = {{"TEST_VALUE", "x y"}}}, body);
    for (int rank = 0; rank < count; ++rank) {
      EXPECT_NE(ranks.pid(rank), ::getpid());
      EXPECT_EQ(ranks.hear(rank, soon()), std::to_string(rank) + " of " + std::to_string(count));
      ranks.say(rank, "hello");
      EXPECT_EQ(ranks.hear(rank, soon()), "heard hello in x y");
      EXPECT_EQ(ranks.wait_exit(rank, soon()), 0);
    }
  }
}

TEST(RanksAsProcesses, AnExceptionIsSaidAndFailsTheProcess) {
  RankProcesses ranks({.count = 1},
                      [](RankChannel&) { throw Error(ErrorCode::Corrupt, "on purpose"); });
  EXPECT_EQ(ranks.hear(0, soon()), "threw on purpose [Corrupt]");
  EXPECT_NE(WEXITSTATUS(ranks.wait_exit(0, soon())), 0);
}

TEST(RanksAsProcesses, SilenceAndDeathAreDifferentErrors) {
  RankProcesses ranks({.count = 2}, [](RankChannel& channel) { channel.hear(); });
  try {
    ranks.hear(0, Deadline::after(10ms));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
  }
  ranks.kill(1, SIGKILL);
  try {
    ranks.hear(1, soon());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::PeerLost);
    EXPECT_EQ(error.peer(), 1);
  }
  const int status = ranks.wait_exit(1, soon());
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(RanksAsProcesses, NobodyIsLeftBehind) {
  pid_t pid = 0;
  {
    RankProcesses ranks({.count = 1}, [](RankChannel& channel) {
      channel.say("here");
      ::raise(SIGSTOP);
    });
    ranks.hear(0, soon());
    pid = ranks.pid(0);
  }
  EXPECT_EQ(::kill(pid, 0), -1) << "a stopped child survived its test";
}

}  // namespace
}  // namespace trireme::testing
