// Goal:   a deadline is a point in time: it passes once, never overflows, and is rounded up for
//         poll(2).
// Method: times far away in both directions, so that no assertion depends on the speed of the test.

#include "trireme/base/deadline.h"

#include <gtest/gtest.h>

#include <limits>

namespace trireme {
namespace {

using namespace std::chrono_literals;

TEST(Deadline, NeverIsNeverPast) {
  const Deadline never = Deadline::never();
  EXPECT_TRUE(never.is_never());
  EXPECT_FALSE(never.is_past());
  EXPECT_EQ(never.remaining(), Duration::max());
  EXPECT_EQ(never.poll_timeout(), -1);
}

TEST(Deadline, ZeroAndNegativeDurationsArePastAtOnce) {
  for (const Duration timeout : {Duration(0), Duration(-1), Duration::min()}) {
    const Deadline deadline = Deadline::after(timeout);
    EXPECT_TRUE(deadline.is_past()) << timeout.count();
    EXPECT_EQ(deadline.remaining(), Duration::zero());
    EXPECT_EQ(deadline.poll_timeout(), 0);
  }
}

TEST(Deadline, AnHourIsNotPast) {
  const Deadline deadline = Deadline::after(1h);
  EXPECT_FALSE(deadline.is_never());
  EXPECT_FALSE(deadline.is_past());
  EXPECT_LE(deadline.remaining(), Duration(1h));
  EXPECT_GT(deadline.remaining(), Duration(50min));
}

TEST(Deadline, OverflowMeansNever) {
  EXPECT_TRUE(Deadline::after(Duration::max()).is_never());
  EXPECT_TRUE(Deadline::after(Duration::max() - 1s).is_never());
}

TEST(Deadline, PollNeitherWakesEarlyNorOverflows) {
  // A remaining fraction of a millisecond is rounded up to a whole one.
  const Deadline soon = Deadline::after(1h - 1ns);
  EXPECT_GT(std::chrono::milliseconds(soon.poll_timeout()), 50min);
  EXPECT_EQ(Deadline::after(24h * 365).poll_timeout(), std::numeric_limits<int>::max());
}

TEST(Deadline, PollRoundsUp) {
  // A quarter of a millisecond is either past or rounded up to one; it is never zero before it
  // passes.
  for (int i = 0; i < 100; ++i) {
    const Deadline deadline = Deadline::after(250us);
    const int timeout = deadline.poll_timeout();
    if (!deadline.is_past()) {
      EXPECT_EQ(timeout, 1);
    }
  }
}

TEST(Deadline, EarlierReturnsTheEarlierDeadline) {
  const Deadline soon = Deadline::after(1s);
  const Deadline late = Deadline::after(1h);
  EXPECT_EQ(min(soon, late).when(), soon.when());
  EXPECT_EQ(min(late, soon).when(), soon.when());
  EXPECT_EQ(min(Deadline::never(), late).when(), late.when());
  EXPECT_TRUE(min(Deadline::never(), Deadline::never()).is_never());
}

TEST(Deadline, KeepsItsTimePoint) {
  const TimePoint moment(Duration(12345));
  EXPECT_EQ(Deadline::at(moment).when(), moment);
  EXPECT_TRUE(Deadline::at(moment).is_past());
}

}  // namespace
}  // namespace trireme
