// Goal:   CommandProcess gives a program the output, input, exit status and terminal that a user's
//         shell would give it.
// Method: shell one-liners.

#include "trireme/testing/command_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "trireme/base/error.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

CommandProcess::Options shell(const std::string& script) {
  return {.command = {"/bin/sh", "-c", script}};
}

TEST(CommandProcess, CatchesOutputAndExit) {
  CommandProcess process(shell("echo out; echo error >&2; exit 3"));
  EXPECT_EQ(process.wait_exit(Deadline::after(10s)), 3);
  EXPECT_EQ(process.out(), "out\n");
  EXPECT_EQ(process.error(), "error\n");
}

TEST(CommandProcess, IsTypedTo) {
  CommandProcess process(shell("read x; echo got $x; cat"));
  process.type("hello\n");
  process.wait_for_output("got hello", Deadline::after(10s));
  process.close_input();
  EXPECT_EQ(process.wait_exit(Deadline::after(10s)), 0);
}

TEST(CommandProcess, WaitsForAWholeLine) {
  CommandProcess process(shell("printf 'one pid 1'; read x; echo 7; exec sleep 100"));
  process.wait_for_output("pid 1", Deadline::after(10s));
  process.type("\n");
  EXPECT_EQ(process.wait_for_line("pid ", Deadline::after(10s)), "17");
  EXPECT_THROW(process.wait_for_line("other", Deadline::after(0s)), Error);
}

TEST(CommandProcess, StartsWithDefaultSignals) {
  const auto before = signal(SIGHUP, SIG_IGN);
  CommandProcess process(shell("echo up; exec sleep 100"));
  signal(SIGHUP, before);
  process.wait_for_output("up", Deadline::after(10s));
  process.signal(SIGHUP);
  EXPECT_EQ(process.wait_exit(Deadline::after(10s)), 128 + SIGHUP);
}

TEST(CommandProcess, WaitsEndByTheirDeadlines) {
  CommandProcess process(shell("echo x; exec sleep 100"));
  EXPECT_THROW(process.wait_for_output("y", Deadline::after(100ms)), Error);
  EXPECT_THROW(process.wait_exit(Deadline::after(100ms)), Error);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait_exit(Deadline::after(10s)), 128 + SIGTERM);
}

TEST(CommandProcess, HasTheEnvironmentItIsGiven) {
  auto options = shell("echo $A-$HOME-");
  options.environment = {{"A", "b"}, {"HOME", ""}};
  CommandProcess process(options);
  EXPECT_EQ(process.wait_exit(Deadline::after(10s)), 0);
  EXPECT_EQ(process.out(), "b--\n");
}

TEST(CommandProcess, CtrlCReachesTheForegroundOfItsTerminal) {
  auto options = shell("tty >/dev/null && echo terminal; exec sleep 100");
  options.is_terminal = true;
  CommandProcess process(options);
  process.wait_for_output("terminal", Deadline::after(10s));
  process.type("\x03");
  EXPECT_EQ(process.wait_exit(Deadline::after(10s)), 128 + SIGINT);
}

}  // namespace
}  // namespace trireme::testing
