// Goal:   an elastic job that keeps losing workers ends at last.
// Method: handwritten deaths with an artificial clock.

#include "trireme/cluster/launch/elastic/restart_limit.h"

#include <gtest/gtest.h>

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

TEST(RestartLimit, CountsReplacementsWithinItsWindow) {
  RestartLimit limit({.restarts_max = 3, .restart_window = 60s});
  TimePoint now{100s};
  EXPECT_EQ(limit.use(2, false, now), "");
  EXPECT_EQ(limit.use(8, true, now), "") << "a restart of the job counts once";
  EXPECT_EQ(limit.use(1, false, now), "restarts used up: 3 within 60.0 s, and 1 worker is missing");
  now += 61s;
  EXPECT_EQ(limit.use(1, false, now), "");
}

TEST(RestartLimit, EndsACrashLoop) {
  RestartLimit limit({});
  limit.on_died({.worker = 0, .round = 0, .age = 1s});
  limit.on_died({.worker = 1, .round = 0, .age = 1s});
  limit.on_died({.worker = 2, .round = 1, .age = 1s});
  EXPECT_EQ(limit.crash_loop(), "") << "two workers of one start count once";
  limit.on_died({.worker = 3, .round = 2, .age = 60s, .is_late = true});
  EXPECT_EQ(limit.crash_loop(),
            "crash loop: worker 3 had not joined 60.0 s after its start, the third in a row");
}

TEST(RestartLimit, AWorkerThatRanForAWhileEndsTheLoop) {
  RestartLimit limit({});
  for (const int round : {0, 1}) limit.on_died({.worker = round, .round = round, .age = 1s});
  limit.on_died({.worker = 2, .round = 2, .age = RestartLimit::kQuickTime});
  limit.on_died({.worker = 3, .round = 3, .age = 1s});
  EXPECT_EQ(limit.crash_loop(), "");
}

}  // namespace
}  // namespace trireme::cluster::launch
