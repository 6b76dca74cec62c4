// Goal:   a process counts as harmless once each of its threads has started to exit, and not
//         before.
// Method: lines in the format of /proc, with misleading names; a real process before and after its
//         end.

#include "trireme/cluster/liveness/harmless.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trireme::cluster {
namespace {

TEST(Harmless, ReadsStateAndFlagsForAnyProcessName) {
  EXPECT_FALSE(has_ended("7 (train) S 1 7 7 0 -1 4194368 0 0"));
  EXPECT_TRUE(has_ended("7 (train) R 1 7 7 0 -1 4194372 0 0")) << "PF_EXITING";
  EXPECT_TRUE(has_ended("7 (train) Z 1 7 7 0 -1 4194368 0 0"));
  EXPECT_TRUE(has_ended("7 (train) X 1 7 7 0 -1 0 0 0"));
  EXPECT_FALSE(has_ended("7 (a) Z 1 2 3 4 5 4) S 1 7 7 0 -1 64 0 0"))
      << "a name that contains a state";
  EXPECT_TRUE(has_ended("7 (Z) )) ( S) D 1 7 7 0 -1 4 0 0"));
  for (const char* text : {"", "7", "7 (x)", "7 (x) ", "7 (x) S 1 7 7 0 -1"}) {
    EXPECT_FALSE(has_ended(text)) << text;
  }
}

TEST(Harmless, AProcessIsHarmlessOnlyAfterItWasKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  EXPECT_FALSE(is_harmless(child));
  ::kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_harmless(child)) << "a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_harmless(child)) << "no such process";
  EXPECT_FALSE(is_harmless(::getpid()));
}

}  // namespace
}  // namespace trireme::cluster
