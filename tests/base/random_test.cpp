// Goal:   the seed, stream and position determine the numbers, and the numbers have the documented
//         distributions.
// Method: compare with the pure function; fixed seeds, so that the statistical bounds either always
//         hold or never. Bounded integers use bounds that would reveal bias.

#include "trireme/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "trireme/base/error.h"

namespace trireme {
namespace {

TEST(Random, MatchesThePureFunctionInOrder) {
  Random random(7, 3);
  for (std::uint64_t block = 0; block < 5; ++block) {
    const PhiloxBlock expected = philox(philox_key(7), philox_counter(block, 3));
    for (std::uint32_t bits : expected) EXPECT_EQ(random.bits32(), bits);
  }
  EXPECT_EQ(random.position(), 20u);
}

TEST(Random, ContinuesFromAnyPosition) {
  Random whole(42);
  std::vector<std::uint32_t> drawn(23);
  std::generate(drawn.begin(), drawn.end(), whole);
  for (std::uint64_t from = 0; from < drawn.size(); ++from) {
    Random resumed(42);
    resumed.seek(from);
    for (std::uint64_t i = from; i < drawn.size(); ++i) ASSERT_EQ(resumed(), drawn[i]) << from;
  }
  Random far(42);
  far.seek(~std::uint64_t{0});
  far.bits32();
  EXPECT_EQ(far.bits32(), drawn[0]) << "positions wrap around";
}

TEST(Random, SeedsAndStreamsDiffer) {
  EXPECT_NE(Random(1).bits64(), Random(2).bits64());
  EXPECT_NE(Random(1, 0).bits64(), Random(1, 1).bits64());
  EXPECT_EQ(Random(1, 5).bits64(), Random(1, 5).bits64());
}

TEST(Random, UniformsFillTheUnitInterval) {
  Random random(1);
  constexpr int kCount = 100'000;
  std::vector<int> tenths(10);
  double sum = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = i % 2 == 0 ? random.uniform_double() : double{random.uniform_float()};
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    ++tenths[static_cast<std::size_t>(x * 10)];
    sum += x;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.005);
  for (int count : tenths) EXPECT_NEAR(count, kCount / 10, 500);
}

TEST(Random, BoundedIntegersAreUnbiased) {
  // With this bound, a 64-bit number modulo the bound would give the lower half twice as often.
  const std::uint64_t bound = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
  Random random(2);
  int lower = 0;
  constexpr int kCount = 30'000;
  for (int i = 0; i < kCount; ++i) {
    const std::uint64_t x = random.below(bound);
    ASSERT_LT(x, bound);
    if (x < bound / 2) ++lower;
  }
  EXPECT_NEAR(lower, kCount / 2, 500);
}

TEST(Random, SmallBoundsAreReachedEvenly) {
  Random random(3);
  EXPECT_EQ(random.below(1), 0u);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (int count : counts) EXPECT_NEAR(count, 10'000, 450);
}

TEST(Random, ABoundOfZeroIsMisuse) {
  Random random(3);
  try {
    random.below(0);
    FAIL() << "below(0) has an answer";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Misuse);
  }
}

TEST(Random, NormalsHaveTheirMoments) {
  Random random(4);
  constexpr int kCount = 100'000;
  std::vector<double> x(kCount);
  for (double& value : x) value = random.normal();
  EXPECT_EQ(random.position(), 4u * kCount) << "a draw takes one block";
  const auto moment = [&](int power) {
    return std::accumulate(x.begin(), x.end(), 0.0,
                           [&](double sum, double v) { return sum + std::pow(v, power); }) /
           kCount;
  };
  EXPECT_NEAR(moment(1), 0.0, 0.01);
  EXPECT_NEAR(moment(2), 1.0, 0.02);
  EXPECT_NEAR(moment(3), 0.0, 0.05);
  EXPECT_NEAR(moment(4), 3.0, 0.1);
  const auto within = std::count_if(x.begin(), x.end(), [](double v) { return std::abs(v) < 1; });
  EXPECT_NEAR(static_cast<double>(within) / kCount, 0.6827, 0.005);
}

TEST(Random, WorksWithTheStandardAlgorithms) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> shuffled = items;
  std::shuffle(shuffled.begin(), shuffled.end(), Random(5));
  EXPECT_NE(shuffled, items);
  EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), items.begin()));
}

}  // namespace
}  // namespace trireme
