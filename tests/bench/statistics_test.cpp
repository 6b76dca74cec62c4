// Goal:   medians, percentiles and means match their definitions, also in edge cases.
// Method: small sets with obvious results.

#include "bench/statistics.h"

#include <gtest/gtest.h>

namespace trireme::bench {
namespace {

TEST(Statistics, ThePercentileIsTheSmallestValueThatTheShareDoesNotExceed) {
  const std::vector<double> values{5, 1, 4, 2, 3};
  EXPECT_EQ(percentile(values, 0), 1);
  EXPECT_EQ(percentile(values, 0.2), 1);
  EXPECT_EQ(percentile(values, 0.21), 2);
  EXPECT_EQ(percentile(values, 0.5), 3);
  EXPECT_EQ(percentile(values, 0.99), 5);
  EXPECT_EQ(percentile(values, 1), 5);
}

TEST(Statistics, EmptySetsGiveZero) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(harmonic_mean({}), 0);
  EXPECT_EQ(harmonic_mean({0, 0}), 0);
}

TEST(Statistics, TheMedianIsOneOfTheValues) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1}), 1);
  EXPECT_EQ(median({9, 1, 3}), 3);
  EXPECT_EQ(median({1e9, 1, 2, 3, 1e9}), 3);
}

TEST(Statistics, ThePercentileOfAHundredCountsFromOne) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(percentile(values, 0.99), 99);
  EXPECT_EQ(percentile(values, 0.5), 50);
}

TEST(Statistics, TheHarmonicMeanSkipsMissingValues) {
  EXPECT_DOUBLE_EQ(harmonic_mean({2, 2}), 2);
  EXPECT_DOUBLE_EQ(harmonic_mean({1, 3}), 1.5);
  EXPECT_DOUBLE_EQ(harmonic_mean({0, 1, 3, 0}), 1.5);
}

}  // namespace
}  // namespace trireme::bench
