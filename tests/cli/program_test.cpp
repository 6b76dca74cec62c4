// Goal:   a program's output and exit status arrive completely; it is killed after its deadline,
//         and signals are forwarded to it.
// Method: small shell scripts, run on the main thread like all tests.

#include "trireme/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

struct Outcome {
  ProgramEnd end;
  std::vector<std::string> lines;
};

Program shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}};
}

Outcome run(const Program& program, Deadline deadline = Deadline::after(60s)) {
  Outcome outcome;
  outcome.end = run_program(program, deadline,
                            [&](std::string_view line) { outcome.lines.emplace_back(line); });
  return outcome;
}

TEST(Program, LinesArriveCompleteAndTheLastNeedsNoNewline) {
  const Outcome outcome = run(shell("printf 'one\\n\\ntw'; printf 'o\\nthree'; exit 3"));
  EXPECT_THAT(outcome.lines, ElementsAre("one", "", "two", "three"));
  EXPECT_EQ(outcome.end.code, 3);
  EXPECT_FALSE(outcome.end.is_interrupted);
}

TEST(Program, ASignalGivesAnExitCodeAbove128) {
  EXPECT_EQ(run(shell("kill -9 $$")).end.code, 137);
}

TEST(Program, StandardInputIsEmpty) {
  EXPECT_THAT(run(shell("cat; echo done")).lines, ElementsAre("done"));
}

TEST(Program, AMissingProgramIsReported) {
  EXPECT_THROW(run({{"/no/such/program"}}), Error);
}

TEST(Program, IsKilledAfterItsDeadline) {
  try {
    run(shell("echo $$; sleep 1000"), Deadline::after(200ms));
    FAIL() << "the program ended by itself";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
  }
}

TEST(Program, SignalsAreForwarded) {
  // The script sends SIGTERM to its parent, which is this process; the parent forwards it.
  const std::string script = "trap 'echo told; exit 5' TERM; kill -TERM " +
                             std::to_string(getpid()) + "; while :; do sleep 0.01; done";
  const Outcome outcome = run(shell(script));
  EXPECT_THAT(outcome.lines, ElementsAre("told"));
  EXPECT_EQ(outcome.end.code, 5);
  EXPECT_TRUE(outcome.end.is_interrupted);
}

TEST(Program, AnExceptionInTheSinkKillsTheProgram) {
  pid_t pid = 0;
  const auto throwing = [&](std::string_view line) {
    pid = std::stoi(std::string(line));
    throw Error(ErrorCode::Io, "enough");
  };
  EXPECT_THROW(run_program(shell("echo $$; exec sleep 1000"), Deadline::after(60s), throwing),
               Error);
  ASSERT_GT(pid, 0);
  EXPECT_NE(kill(pid, 0), 0);
}

}  // namespace
}  // namespace trireme::cli
