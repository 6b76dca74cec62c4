// Goal:   the most recent groups are remembered, and never more than the bound.
// Method: adds more groups than the bound, some of them twice.

#include "trireme/comm/algorithm/recent_groups.h"

#include <gtest/gtest.h>

namespace trireme::comm {
namespace {

TEST(RecentGroups, RemembersTheLatestGroups) {
  RecentGroups groups;
  EXPECT_FALSE(groups.contains(0));
  for (std::uint64_t group = 0; group < RecentGroups::kMax; ++group) {
    groups.add(group);
    groups.add(group);
  }
  EXPECT_EQ(groups.count(), RecentGroups::kMax);
  EXPECT_TRUE(groups.contains(0));
  groups.add(RecentGroups::kMax);
  EXPECT_EQ(groups.count(), RecentGroups::kMax);
  EXPECT_FALSE(groups.contains(0));
  EXPECT_TRUE(groups.contains(1));
  EXPECT_TRUE(groups.contains(RecentGroups::kMax));
}

}  // namespace
}  // namespace trireme::comm
