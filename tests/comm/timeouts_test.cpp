// Goal:   an outer wait never times out before the inner wait that causes it.
// Method: compares the timeouts; they scale with the single setting.

#include "trireme/comm/timeouts.h"

#include <gtest/gtest.h>

#include "trireme/comm/group.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

TEST(Timeouts, AnOuterWaitIsLongerThanItsInnerWaits) {
  for (const Duration collective : {Duration(1s), Timeouts::kCollective}) {
    const Timeouts timeouts{collective};
    EXPECT_LT(timeouts.loader(), timeouts.collective);
    EXPECT_GT(timeouts.loader(), timeouts.collective / 2);
    EXPECT_GT(timeouts.step(), timeouts.collective);
    EXPECT_GT(timeouts.part(), timeouts.collective);
    EXPECT_GE(timeouts.writer(), timeouts.part() + timeouts.collective);
    EXPECT_GE(timeouts.files(), timeouts.writer() + timeouts.collective);
    EXPECT_GT(timeouts.phase(), timeouts.files());
  }
}

TEST(Timeouts, TheGroupsTimeoutScalesAllOfThem) {
  EXPECT_EQ(Group::solo().timeouts().collective, Timeouts::kCollective);
  const Group group = Group::solo(nullptr, 0, {.timeout = 2s});
  EXPECT_EQ(group.timeouts().loader(), 1600ms);
  EXPECT_EQ(group.timeouts().files(), 16s);
}

}  // namespace
}  // namespace trireme::comm
