// Goal:   a lost host is retried after growing pauses, and finally given up.
// Method: the state machine with an artificial clock.

#include "trireme/cluster/launch/hosts/remote_host.h"

#include <gtest/gtest.h>

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;

TEST(HostRetry, PausesGrowUntilTheHostIsGivenUp) {
  Retry retry;
  TimePoint now{100s};
  EXPECT_TRUE(retry.next().is_never());
  Duration before = 0s;
  for (int i = 0; i < Retry::kTriesMax; ++i) {
    retry.on_lost(now);
    ASSERT_FALSE(retry.is_given_up()) << i;
    const Duration pause = retry.next().when() - now;
    EXPECT_EQ(pause, before == 0s ? Retry::kFirst : std::min(2 * before, Retry::kLast));
    before = pause;
    now += pause;
    retry.on_tried();
    EXPECT_TRUE(retry.next().is_never()) << "an attempt is in progress";
  }
  retry.on_lost(now);
  EXPECT_TRUE(retry.is_given_up());
  EXPECT_TRUE(retry.next().is_never());
}

TEST(HostRetry, AStableConnectionResetsThePauses) {
  Retry retry;
  TimePoint now{100s};
  for (int i = 0; i < 5; ++i) {
    retry.on_lost(now);
    retry.on_up(now + 1s);
    now += 2s;
  }
  retry.on_lost(now);
  EXPECT_GT(retry.next().when() - now, Retry::kFirst)
      << "a connection that is lost at once does not reset the pauses";
  retry.on_up(now);
  now += Retry::kSteady;
  retry.on_lost(now);
  EXPECT_EQ(retry.next().when() - now, Retry::kFirst);
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
