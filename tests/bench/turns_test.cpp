// Goal:   contenders run in turns, their lines are passed on, and a failure ends the run unless the
//         contender may fail.
// Method: shell scripts as contenders.

#include "bench/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Contender contender(const std::string& who, const std::string& script, bool may_fail = false) {
  return {.who = who, .label = who, .program = {{"/bin/sh", "-c", script}}, .may_fail = may_fail};
}

struct Outcome {
  bool is_whole = false;
  std::vector<std::string> lines;  // "contender: line", for the accepted lines
  std::string error;
};

Outcome run(const Turns& turns, int rounds) {
  Outcome outcome;
  ::testing::internal::CaptureStderr();
  outcome.is_whole = turns.run(rounds, [&](const Contender& from, std::string_view line) {
    if (!line.starts_with("+")) return false;
    outcome.lines.push_back(from.who + ": " + std::string(line));
    return true;
  });
  outcome.error = ::testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Turns, LinesArriveInTurnsWithoutTheirRank) {
  Turns turns;
  turns.add(contender("a", "echo '[0] +1'; echo other"));
  turns.add(contender("b", "echo +2"));
  const Outcome outcome = run(turns, 2);
  EXPECT_TRUE(outcome.is_whole);
  EXPECT_THAT(outcome.lines, ElementsAre("a: +1", "b: +2", "a: +1", "b: +2"));
  EXPECT_THAT(outcome.error, HasSubstr("other")) << "rejected lines are shown";
}

TEST(Turns, AContenderThatMayFailIsSkippedAfterAFailure) {
  Turns turns;
  turns.add(contender("a", "echo +1; exit 3", true));
  turns.add(contender("b", "echo +2"));
  const Outcome outcome = run(turns, 3);
  EXPECT_THAT(outcome.lines, ElementsAre("a: +1", "b: +2", "b: +2", "b: +2"));
  EXPECT_THAT(outcome.error, HasSubstr("SKIPPED: a ended with exit code 3 and 1 results"));
  EXPECT_EQ(outcome.error.find("SKIPPED: a"), outcome.error.rfind("SKIPPED: a"));
}

TEST(Turns, AContenderMayRunInFewerRounds) {
  Turns turns;
  turns.add(contender("a", "echo +1"));
  Contender once = contender("b", "echo +2");
  once.rounds = 1;
  turns.add(once);
  EXPECT_THAT(run(turns, 3).lines, ElementsAre("a: +1", "b: +2", "a: +1", "a: +1"));
}

TEST(Turns, AFailureOfAnotherContenderEndsTheRun) {
  for (const char* script : {"echo +1; exit 3", "true"}) {
    Turns turns;
    turns.add(contender("a", script));
    ::testing::internal::CaptureStderr();
    EXPECT_THROW(turns.run(1, [](const Contender&, std::string_view) { return true; }), Error);
    ::testing::internal::GetCapturedStderr();
  }
}

TEST(Turns, OnlyTheRankPrefixIsRemovedFromALine) {
  EXPECT_EQ(without_rank("[0] x"), "x");
  EXPECT_EQ(without_rank("[12] [3] x"), "[3] x");
  for (const char* line : {"", "x", "[", "[]", "[] x", "[0]x", "[0", "[a] x", "[0] "}) {
    const std::string_view whole = line;
    EXPECT_EQ(without_rank(whole), whole == "[0] " ? "" : whole);
  }
}

}  // namespace
}  // namespace trireme::bench
