// Goal:   sets of ranks and durations are formatted readably.
// Method: examples at 0, 1, 2, gaps and ranges.

#include "trireme/cluster/rank_names.h"

#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

std::string named(std::vector<int> ranks) {
  return name_ranks(ranks);
}

TEST(RankNames, ConsecutiveRanksAreShortened) {
  EXPECT_EQ(named({}), "no rank");
  EXPECT_EQ(named({3}), "rank 3");
  EXPECT_EQ(named({0, 1}), "ranks 0, 1");
  EXPECT_EQ(named({3, 7, 8, 9}), "ranks 3, 7-9");
  EXPECT_EQ(named({0, 1, 2, 4, 6, 7}), "ranks 0-2, 4, 6, 7");
}

TEST(RankNames, TimesHaveAUnit) {
  EXPECT_EQ(name_seconds(5s), "5.0 s");
  EXPECT_EQ(name_seconds(12ms), "12 ms");
  EXPECT_EQ(name_seconds(250ms), "0.2 s");
}

}  // namespace
}  // namespace trireme::cluster
