// Goal:   the last lines of a failed job contain the rank, the reason and its last output.
// Method: the text for artificial exits.

#include "trireme/cluster/launch/rank/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace trireme::cluster::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string report(const std::vector<RankExit>& exits, const output::Tail& tail) {
  return report_failure(exits, [&](int) -> const output::Tail& { return tail; });
}

TEST(Report, IsEmptyAfterSuccess) {
  EXPECT_EQ(report({}, {}), "");
  EXPECT_EQ(report({{.rank = 0, .status = 0}}, {}), "");
}

TEST(Report, NamesRankReasonAndLastLines) {
  output::Tail tail(2);
  for (const char* line : {"one", "two", "three"}) tail.add(line);
  EXPECT_EQ(report({{.rank = 0, .status = 0}, {.rank = 2, .status = 3 << 8}}, tail),
            "trireme: rank 2 failed: exit code 3\n"
            "trireme: its last output:\n"
            "    two\n"
            "    three\n");
}

TEST(Report, StatesThatThereWasNoOutput) {
  EXPECT_THAT(report({{.rank = 1, .status = SIGSEGV}}, {}), HasSubstr("it had printed nothing"));
}

TEST(Report, TheBlamedRankIsLastAndStoppedRanksAreLeftOut) {
  const std::string text = report({{.rank = 0, .status = 1 << 8},
                                   {.rank = 2, .status = SIGSEGV},
                                   {.rank = 1, .status = SIGTERM, .signal_sent = SIGTERM}},
                                  {});
  EXPECT_LT(text.find("rank 0 failed too: exit code 1"), text.find("rank 2 failed: killed"));
  EXPECT_THAT(text, Not(HasSubstr("rank 1")));
}

TEST(Report, RepeatsTheRanksErrorMessageOnce) {
  output::Tail tail;
  tail.add("step 3");
  tail.add_failure("no room in /tmp");
  const std::vector<RankExit> exits{{.rank = 1, .status = kExitPeerLost << 8},
                                    {.rank = 0, .status = 1 << 8, .signal_sent = SIGTERM}};
  EXPECT_EQ(report(exits, tail), "trireme: rank 0 failed: no room in /tmp\n");
}

// A file may be missing on one host only.
TEST(Report, AUserErrorNamesTheRankOnlyInJobsOnSeveralHosts) {
  output::Tail tail;
  tail.add_failure("/data/x does not exist");
  EXPECT_EQ(report({{.rank = 1, .status = kExitUsage << 8}}, tail),
            "trireme: /data/x does not exist\n");
  EXPECT_EQ(report({{.rank = 1, .status = kExitUsage << 8, .host = "node2"}}, tail),
            "trireme: rank 1 on node2 failed: /data/x does not exist\n");
}

// As where all workers of an elastic job meet the same damaged file.
TEST(Report, TheSameFailureOfOthersIsNotRepeated) {
  output::Tail same;
  same.add_failure("a.jpg is damaged");
  output::Tail other;
  other.add_failure("no memory is left");
  const std::vector<RankExit> exits{{.rank = 1, .status = kExitFinal << 8},
                                    {.rank = 0, .status = kExitFinal << 8},
                                    {.rank = 2, .status = 1 << 8},
                                    {.rank = 3, .status = 1 << 8}};
  const auto tail_of = [&](int rank) -> const output::Tail& { return rank == 2 ? other : same; };
  EXPECT_EQ(report_failure(exits, tail_of, "worker"),
            "trireme: worker 2 failed too: no memory is left\n"
            "trireme: worker 1 failed: a.jpg is damaged\n");
}

// All workers diverge in the same step, and one of them writes it.
TEST(Report, OfEqualFailuresTheRankThatWroteTheReasonIsNamed) {
  const output::Tail silent;
  output::Tail tail;
  tail.add_failure("the loss is not finite");
  const std::vector<RankExit> exits{{.rank = 1, .status = kExitDiverged << 8},
                                    {.rank = 0, .status = kExitDiverged << 8}};
  EXPECT_EQ(report_failure(
                exits, [&](int rank) -> const output::Tail& { return rank == 0 ? tail : silent; }),
            "trireme: rank 0 failed: the loss is not finite\n");
}

TEST(Report, AMessageThatNamesItsRankGetsNoPrefix) {
  output::Tail tail;
  tail.add_failure("rank 1 could not write its part: no room");
  EXPECT_EQ(report({{.rank = 0, .status = 1 << 8}}, tail),
            "trireme: rank 1 could not write its part: no room\n");
  output::Tail elastic;
  elastic.add_failure("worker 3 could not write its part: no room");
  EXPECT_EQ(report_failure(
                std::vector<RankExit>{{.rank = 0, .status = kExitFinal << 8}},
                [&](int) -> const output::Tail& { return elastic; }, "worker"),
            "trireme: worker 3 could not write its part: no room\n");
}

TEST(Report, AConfigurationErrorNamesNoRank) {
  output::Tail tail;
  tail.add_failure("train.global_batch_size: too small");
  tail.add_failure("train.steps: too");
  EXPECT_EQ(report({{.rank = 1, .status = kExitUsage << 8}, {.rank = 0, .status = kExitUsage << 8}},
                   tail),
            "trireme: train.global_batch_size: too small\ntrain.steps: too\n");
}

TEST(Report, StaysShortForManyRanks) {
  std::vector<RankExit> exits;
  for (int rank = 0; rank < 1000; ++rank) exits.push_back({.rank = rank, .status = 1 << 8});
  const std::string text = report(exits, {});
  EXPECT_THAT(text, HasSubstr("and 991 more failed"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 15);
}

TEST(Report, FormatsNumbersReadably) {
  EXPECT_EQ(plain_number(5), "5");
  EXPECT_EQ(plain_number(0.25), "0.25");
  EXPECT_EQ(plain_number(100), "100");
}

}  // namespace
}  // namespace trireme::cluster::launch
