// Goal:   two models differ where they do, and not where chance explains it.
// Method: McNemar's tail by hand; a bootstrap of gaps whose mean has a known deviation.

#include "trireme/train/evaluate/significance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

// So many samples that only the first, only the second, and both got right.
McNemar test_of(int first, int second, int both) {
  std::vector<std::uint8_t> a, b;
  const auto add = [&](int count, std::uint8_t x, std::uint8_t y) {
    a.insert(a.end(), static_cast<std::size_t>(count), x);
    b.insert(b.end(), static_cast<std::size_t>(count), y);
  };
  add(first, 1, 0);
  add(second, 0, 1);
  add(both, 1, 1);
  return mcnemar(a, b);
}

TEST(SignificanceOfAnswers, IsTheTailOfTosses) {
  const McNemar seven = test_of(6, 1, 90);
  EXPECT_EQ(seven.only_first, 6);
  EXPECT_EQ(seven.only_second, 1);
  EXPECT_NEAR(seven.p, 2 * (1 + 7) / 128.0, 1e-12);
  EXPECT_NEAR(test_of(1, 6, 0).p, seven.p, 1e-15);
  EXPECT_NEAR(test_of(10, 0, 3).p, 2.0 / 1024, 1e-12);
  EXPECT_EQ(test_of(5, 5, 1).p, 1);
  EXPECT_EQ(test_of(0, 0, 4).p, 1);
  EXPECT_EQ(mcnemar({}, {}).p, 1);
}

TEST(SignificanceOfAnswers, OfManyIsNearTheNormalTail) {
  // 100 more of 10,000 tosses is one deviation of 100 from the middle by half: z = 1, and a
  // correction of half a toss.
  const double z = (100 - 1) / std::sqrt(10000.0);
  EXPECT_NEAR(test_of(5050, 4950, 0).p, std::erfc(z / std::sqrt(2.0)), 1e-4);
}

TEST(SignificanceOfLosses, IsTheSpreadOfTheMean) {
  std::vector<double> first, second(401, 1.0);
  for (int i = 0; i < 401; ++i) first.push_back(1.5 + (i % 2 == 0 ? 1 : -1));
  const Interval found = paired_bootstrap(first, second);
  const double mean = 0.5 + 1.0 / 401;
  EXPECT_NEAR(found.mean, mean, 1e-12);
  const double half = 1.96 / std::sqrt(401.0);
  EXPECT_NEAR(found.low, mean - half, 0.1 * half);
  EXPECT_NEAR(found.high, mean + half, 0.1 * half);
}

TEST(SignificanceOfLosses, FollowsTheSeedAlone) {
  const std::vector<double> first{1, 2, 4, 8, 16}, second{2, 2, 2, 2, 2};
  const Interval once = paired_bootstrap(first, second, {.resamples = 101, .seed = 3});
  const Interval again = paired_bootstrap(first, second, {.resamples = 101, .seed = 3});
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  const Interval wider = paired_bootstrap(first, second, {.resamples = 101, .level = 0.99});
  EXPECT_GE(wider.high - wider.low, 0.9 * (once.high - once.low));
  const std::vector<double> endless{1, 2, HUGE_VAL, 8, 16};
  EXPECT_THROW(paired_bootstrap(endless, endless), Error);
  const Interval none = paired_bootstrap(first, first);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 0);
}

}  // namespace
}  // namespace trireme::train
