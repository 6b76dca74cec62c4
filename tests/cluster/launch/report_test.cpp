// Goal:   the last lines of a failed job name the rank, the reason and its last output.
// Method: the text for made-up exits.

#include "trireme/cluster/launch/report.h"

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

TEST(Report, ASuccessHasNone) {
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

TEST(Report, SaysWhenThereWasNoOutput) {
  EXPECT_THAT(report({{.rank = 1, .status = SIGSEGV}}, {}), HasSubstr("it had written nothing"));
}

TEST(Report, TheCulpritComesLastAndTheObedientNotAtAll) {
  const std::string text = report({{.rank = 0, .status = 1 << 8},
                                   {.rank = 2, .status = SIGSEGV},
                                   {.rank = 1, .status = SIGTERM, .signal_sent = SIGTERM}},
                                  {});
  EXPECT_LT(text.find("rank 0 failed too: exit code 1"), text.find("rank 2 failed: killed"));
  EXPECT_THAT(text, Not(HasSubstr("rank 1")));
}

TEST(Report, StaysShortForManyRanks) {
  std::vector<RankExit> exits;
  for (int rank = 0; rank < 1000; ++rank) exits.push_back({.rank = rank, .status = 1 << 8});
  const std::string text = report(exits, {});
  EXPECT_THAT(text, HasSubstr("and 991 more failed"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 15);
}

TEST(Report, NumbersAreAsAPersonWritesThem) {
  EXPECT_EQ(plain_number(5), "5");
  EXPECT_EQ(plain_number(0.25), "0.25");
  EXPECT_EQ(plain_number(100), "100");
}

}  // namespace
}  // namespace trireme::cluster::launch
