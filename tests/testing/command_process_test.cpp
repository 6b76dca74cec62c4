// Goal:   a program's output, input, exit and terminal are what a person would have.
// Method: shell one-liners.

#include "trireme/testing/command_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "trireme/base/error.h"
#include "trireme/testing/in_time.h"

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
  testing::expect_in_time(process.elapsed(), 10s);
}

TEST(CommandProcess, IsTypedTo) {
  CommandProcess process(shell("read x; echo got $x; cat"));
  process.type("hello\n");
  process.wait_for_output("got hello", Deadline::after(10s));
  process.close_input();
  EXPECT_EQ(process.wait_exit(Deadline::after(10s)), 0);
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
