// Goal:   an order is a permutation of an epoch's samples for every count, differs for every epoch
//         and seed, and is not biased towards any sample at any position.
// Method: exhaustive over counts around powers of two and primes; statistics over thousands of
//         seeds with bounds far outside of chance.

#include "trireme/data/order/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

std::vector<std::int64_t> whole(const Order& order, std::int64_t epoch) {
  std::vector<std::int64_t> all;
  for (std::int64_t k = 0; k < order.count(); ++k) all.push_back(order.sample(epoch, k));
  return all;
}

std::vector<std::int64_t> identity(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void expect_permutation(std::vector<std::int64_t> all) {
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, identity(std::ssize(all)));
}

TEST(Order, IsAPermutationOfEveryCount) {
  for (std::int64_t count = 0; count <= 130; ++count) {
    SCOPED_TRACE(count);
    for (std::int64_t epoch : {0, 1, 7}) expect_permutation(whole(Order(3, count), epoch));
  }
  for (std::int64_t count : {251, 255, 256, 257, 1021, 1023, 1024, 1025, 4095, 4097, 60000}) {
    SCOPED_TRACE(count);
    expect_permutation(whole(Order(0, count), 2));
  }
}

TEST(Order, StaysInRangeForHugeCounts) {
  const std::int64_t count = (std::int64_t{1} << 62) + 1;
  const Order order(9, count);
  for (std::int64_t k : {std::int64_t{0}, std::int64_t{1}, count / 2, count - 1}) {
    EXPECT_GE(order.sample(0, k), 0);
    EXPECT_LT(order.sample(0, k), count);
  }
  EXPECT_NE(order.sample(0, 0), order.sample(0, 1));
}

TEST(Order, DiffersByEpochAndBySeed) {
  const std::vector<std::int64_t> first = whole(Order(1, 1000), 0);
  EXPECT_EQ(first, whole(Order(1, 1000), 0));
  const std::vector<std::vector<std::int64_t>> others = {
      whole(Order(1, 1000), 1), whole(Order(2, 1000), 0),
      whole(Order(1, 1000), std::int64_t{1} << 32), whole(Order(std::uint64_t{1} << 32, 1000), 0),
      identity(1000)};
  for (const auto& other : others) {
    int same = 0;
    for (std::size_t k = 0; k < first.size(); ++k) same += first[k] == other[k] ? 1 : 0;
    EXPECT_LT(same, 20);  // one is expected
  }
}

TEST(Order, UnshuffledIsTheIdentity) {
  EXPECT_EQ(whole(Order(5, 100, false), 3), identity(100));
}

TEST(Order, EveryPermutationOfThreeIsEquallyLikely) {
  std::map<std::vector<std::int64_t>, int> seen;
  constexpr int kSeeds = 6000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    ++seen[whole(Order(static_cast<std::uint64_t>(seed), 3), 0)];
  }
  ASSERT_EQ(seen.size(), 6U);
  for (const auto& [permutation, times] : seen) EXPECT_NEAR(times, 1000, 150);  // 5 deviations
}

TEST(Order, NoPlacePrefersASample) {
  constexpr std::int64_t kCount = 11;
  constexpr int kEpochs = 11000;
  std::vector<std::vector<int>> times(kCount, std::vector<int>(kCount));
  const Order order(17, kCount);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (std::int64_t k = 0; k < kCount; ++k) {
      ++times[static_cast<std::size_t>(k)][static_cast<std::size_t>(order.sample(epoch, k))];
    }
  }
  for (const auto& row : times) {
    for (int count : row) EXPECT_NEAR(count, 1000, 160);
  }
}

// Consecutive samples are as far apart as in a random order: a third of the count on average.
TEST(Order, NeighboursAreUnrelated) {
  const std::vector<std::int64_t> all = whole(Order(4, 60000), 0);
  double sum = 0;
  for (std::size_t k = 1; k < all.size(); ++k) {
    sum += static_cast<double>(std::abs(all[k] - all[k - 1]));
  }
  EXPECT_NEAR(sum / 59999, 20000, 400);
}

TEST(Order, RefusesPlacesOutside) {
  EXPECT_THROW(Order(0, -1), Error);
  EXPECT_THROW(Order(0, 0).sample(0, 0), Error);
  EXPECT_THROW(Order(0, 5).sample(0, 5), Error);
  EXPECT_THROW(Order(0, 5).sample(0, -1), Error);
}

}  // namespace
}  // namespace trireme::data
