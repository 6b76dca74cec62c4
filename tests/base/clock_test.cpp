// Goal:   the steady clock never goes back, and code that takes a Clock uses no other clock.
// Method: consecutive readings, also from several threads; a test clock.

#include "trireme/base/clock.h"

#include <gtest/gtest.h>

#include <ctime>
#include <thread>
#include <vector>

namespace trireme {
namespace {

TEST(Clock, NeverGoesBack) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      TimePoint last = steady_clock().now();
      for (int reading = 0; reading < 1000; ++reading) {
        const TimePoint now = steady_clock().now();
        ASSERT_GE(now, last);
        last = now;
      }
    });
  }
}

TEST(Clock, IsTheSteadyClock) {
  const auto before = std::chrono::steady_clock::now();
  const TimePoint now = steady_clock().now();
  const auto after = std::chrono::steady_clock::now();
  EXPECT_GE(now, before);
  EXPECT_LE(now, after);
}

class FrozenClock : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Duration(42)); }
};

TEST(Clock, CanBeReplaced) {
  const FrozenClock frozen;
  const Clock& clock = frozen;
  EXPECT_EQ(clock.now().time_since_epoch().count(), 42);
}

TEST(Clock, WallSecondsMatchTheSystemClock) {
  EXPECT_NEAR(wall_seconds(), static_cast<double>(std::time(nullptr)), 2.0);
}

}  // namespace
}  // namespace trireme
