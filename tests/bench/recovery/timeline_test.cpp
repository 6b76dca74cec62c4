// Goal:   the cost of an incident is computed from the steps around it, and only once these are
//         complete.
// Method: steps at chosen times.

#include "bench/recovery/timeline.h"

#include <gtest/gtest.h>

namespace trireme::bench::recovery {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Workers 0 and 1 complete a step every 10 ms in epoch 1, until 100 ms. The first step of epoch 2
// ends 60 ms later for worker 0 and 62 ms later for worker 1; the next steps take 12 ms each.
Timeline timeline(int steps_after) {
  Timeline all;
  for (const int worker : {0, 1}) {
    all.add({.is_begin = true, .nanoseconds = worker + 1, .worker = worker});
    for (int i = 1; i <= 10; ++i) {
      all.add({.nanoseconds = i * 10 * kMs, .worker = worker, .epoch = 1, .step = i});
    }
    for (int i = 0; i < steps_after; ++i) {
      all.add({.nanoseconds = (160 + 2 * worker + 12 * i) * kMs,
               .worker = worker,
               .epoch = 2,
               .step = 11 + i});
    }
  }
  return all;
}

TEST(RecoveryTimeline, CountsFromTheDeathToTheLastSurvivorsStep) {
  EXPECT_EQ(timeline(5).lost(100 * kMs, 1, {0, 1}), std::nullopt);
  EXPECT_NEAR(timeline(6).lost(100 * kMs, 1, {0, 1}).value(), 0.050, 1e-9);
  EXPECT_NEAR(timeline(6).lost(95 * kMs, 1, {0}).value(), 0.053, 1e-9);
  EXPECT_EQ(timeline(6).lost(100 * kMs, 2, {0}), std::nullopt);
  EXPECT_EQ(timeline(6).lost(100 * kMs, 1, {0, 2}), std::nullopt);
}

TEST(RecoveryTimeline, ComparesTheLargestStepAfterWithTheLargestBefore) {
  EXPECT_EQ(timeline(2).jolt(100 * kMs, {0, 1}, 3), std::nullopt);
  EXPECT_NEAR(timeline(3).jolt(100 * kMs, {0, 1}, 3).value(), 0.052, 1e-9);
  EXPECT_NEAR(timeline(3).jolt(100 * kMs, {0}, 3).value(), 0.050, 1e-9);
}

TEST(RecoveryTimeline, AStepIsTheMedianOfAll) {
  EXPECT_NEAR(timeline(3).median_step({0, 1}), 0.010, 1e-9);
  EXPECT_NEAR(timeline(30).median_step({0}), 0.012, 1e-9);
  EXPECT_EQ(timeline(30).median_step({7}), 0);
}

TEST(RecoveryTimeline, CountsStepsPerEpochAndTheFirstStepPerWorker) {
  const Timeline all = timeline(4);
  EXPECT_EQ(all.epoch(), 2);
  EXPECT_EQ(all.steps_in_epoch(1), 4);
  EXPECT_EQ(all.steps_in_epoch(7), 0);
  EXPECT_EQ(all.began(1), 2);
  EXPECT_EQ(all.began(7), std::nullopt);
}

}  // namespace
}  // namespace trireme::bench::recovery
