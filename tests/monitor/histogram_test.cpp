// Goal:   quantiles are accurate within the documented 25 %, for values of any magnitude.
// Method: compare classes with their bounds; compare uniform, constant and unusual values with
//         exact results.

#include "trireme/monitor/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace trireme::monitor {
namespace {

TEST(Histogram, EveryValueIsInItsClass) {
  for (double value = 1e-9; value < 1e10; value *= 1.0371) {
    const std::size_t index = Histogram::class_of(value);
    EXPECT_LE(value, Histogram::bound_of(index));
    EXPECT_GT(value, Histogram::bound_of(index - 1));
  }
  for (std::size_t index = 0; index < Histogram::kClasses; ++index) {
    EXPECT_EQ(Histogram::class_of(Histogram::bound_of(index)), index);
  }
}

TEST(Histogram, OddValuesHaveAPlace) {
  EXPECT_EQ(Histogram::class_of(0), 0u);
  EXPECT_EQ(Histogram::class_of(-1), 0u);
  EXPECT_EQ(Histogram::class_of(std::nan("")), 0u);
  EXPECT_EQ(Histogram::class_of(1e300), Histogram::kClasses - 1);
  EXPECT_EQ(Histogram::class_of(std::numeric_limits<double>::infinity()), Histogram::kClasses - 1);
}

TEST(Histogram, EmptyIsZero) {
  const auto snapshot = Histogram().snapshot();
  EXPECT_EQ(snapshot.count, 0u);
  EXPECT_EQ(snapshot.mean(), 0);
  EXPECT_EQ(snapshot.quantile(0.5), 0);
}

TEST(Histogram, OneValueIsEveryQuantile) {
  Histogram histogram;
  histogram.add(0.3);
  for (double fraction : {0.0, 0.5, 1.0}) {
    EXPECT_EQ(histogram.snapshot().quantile(fraction), 0.3) << "never above the largest value";
  }
}

TEST(Histogram, QuantilesAreWithinAQuarter) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.add(i * 1e-3);
  const auto snapshot = histogram.snapshot();
  EXPECT_EQ(snapshot.count, 1000u);
  EXPECT_NEAR(snapshot.mean(), 0.5005, 1e-9);
  EXPECT_EQ(snapshot.max, 1.0);
  for (double fraction : {0.01, 0.1, 0.5, 0.9, 0.99, 1.0}) {
    EXPECT_GE(snapshot.quantile(fraction), fraction - 1e-12);
    EXPECT_LE(snapshot.quantile(fraction), fraction * 1.25 + 1e-12);
  }
}

TEST(Histogram, AddsFromManyThreads) {
  Histogram histogram;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&histogram, i] {
      for (int n = 0; n < 5000; ++n) histogram.add(i + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(histogram.snapshot().count, 20'000u);
  EXPECT_EQ(histogram.snapshot().sum, 5000.0 * (1 + 2 + 3 + 4));
  EXPECT_EQ(histogram.snapshot().max, 4.0);
}

}  // namespace
}  // namespace trireme::monitor
