// Goal:   one-pass mean and variance equal those of two passes, however the numbers are split.
// Method: numbers around a large mean, merged from unequal parts.

#include "trireme/base/moments.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Moments, MatchTwoPassesForAnySplit) {
  const auto number = [](int i) { return 1e8 + (i % 10) * 0.5; };  // mean 1e8 + 2.25
  for (const int parts : {1, 2, 7}) {
    Moments all;
    for (int part = 0; part < parts; ++part) {
      Moments own;
      for (int i = part; i < 1000; i += parts) own.add(number(i));
      all.merge(own);
    }
    EXPECT_EQ(all.count, 1000);
    EXPECT_NEAR(all.mean, 1e8 + 2.25, 1e-6);
    EXPECT_NEAR(all.variance(), 2.0625, 1e-6);
  }
}

TEST(Moments, OfNoNumbersAreZero) {
  Moments none;
  EXPECT_EQ(none.variance(), 0);
  Moments one;
  one.add(5);
  one.merge(none);
  none.merge(one);
  EXPECT_EQ(none.mean, 5);
  EXPECT_EQ(none.variance(), 0);
}

}  // namespace
}  // namespace trireme
