// Goal:   the guarantees of combine() in concrete numbers: the order of the tree, a single rounding
//         of 16-bit sums, wrapping integers, NaN in minima, and the rejection of invalid arguments.
// Method: hand-made inputs whose result differs under any other rule.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/kernel/combine.h"
#include "trireme/comm/kernel/half.h"

namespace trireme::comm {
namespace {

template <class T>
T combined(DType type, ReduceOp op, std::vector<T> values, std::size_t divisor = 1) {
  std::vector<const void*> sources;
  for (const T& value : values) sources.push_back(&value);
  T result{};
  void* out = &result;
  combine({type, op, divisor}, sources, {&out, 1}, 1);
  return result;
}

float sum(std::vector<float> values) {
  return combined(DType::Float32, ReduceOp::Sum, std::move(values));
}

TEST(CombineContract, TheTreeIsSplitAfterTheLargestPowerOfTwo) {
  EXPECT_EQ(tree_middle(0, 2), 1u);
  EXPECT_EQ(tree_middle(0, 3), 2u);
  EXPECT_EQ(tree_middle(0, 4), 2u);
  EXPECT_EQ(tree_middle(0, 5), 4u);
  EXPECT_EQ(tree_middle(0, 8), 4u);
  EXPECT_EQ(tree_middle(0, 9), 8u);
  EXPECT_EQ(tree_middle(4, 7), 6u);
}

TEST(CombineContract, FloatsAreAddedInTheTreesOrder) {
  const float big = 0x1p24f;  // adding 1 to it has no effect, adding 2 has
  EXPECT_EQ(sum({big, 1, 1}), big) << "(big + 1) + 1";
  EXPECT_EQ(sum({1, 1, big}), big + 2) << "(1 + 1) + big";
  EXPECT_EQ(sum({big, 1, 1, 1}), big + 2) << "(big + 1) + (1 + 1), not ((big + 1) + 1) + 1";
  EXPECT_EQ(sum({big, -big, 1, 1}), 2.0f);
  EXPECT_EQ(sum({1, 1, 1, 1, big}), big + 4) << "four in front of the fifth";
  EXPECT_EQ(sum({big, 1, 1, 1, 1, 1, 2}), big + 6) << "((big + 1) + (1 + 1)) + ((1 + 1) + 2)";
}

TEST(CombineContract, HalvesAreRoundedOnce) {
  // 2048 + 1 is 2048 in float16; three ones make it 2052 only if they are added to each other
  // first.
  const std::uint16_t large = narrow_half(2048), one = narrow_half(1);
  EXPECT_EQ(widen_half(combined(DType::Float16, ReduceOp::Sum,
                                std::vector<std::uint16_t>{large, one, one, one})),
            2052.0f);
  const std::uint16_t wide = narrow_bfloat16(256), unit = narrow_bfloat16(1);
  EXPECT_EQ(widen_bfloat16(combined(DType::BFloat16, ReduceOp::Sum,
                                    std::vector<std::uint16_t>{wide, unit, unit, unit, unit})),
            260.0f);
  // A sum beyond the range of float16 is still in range when it is divided for the mean.
  const std::uint16_t most = narrow_half(60000);
  EXPECT_EQ(combined(DType::Float16, ReduceOp::Mean,
                     std::vector<std::uint16_t>{most, most, most, most}, 4),
            most);
}

TEST(CombineContract, IntegersWrap) {
  EXPECT_EQ(combined<std::uint8_t>(DType::UInt8, ReduceOp::Sum, {200, 100}), 44);
  EXPECT_EQ(combined<std::int8_t>(DType::Int8, ReduceOp::Sum, {127, 1}), -128);
  EXPECT_EQ(combined<std::int8_t>(DType::Int8, ReduceOp::Product, {64, 2, 3}), -128);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(combined<std::int64_t>(DType::Int64, ReduceOp::Sum, {kMost, 1}), kLeast);
  EXPECT_EQ(combined<std::int64_t>(DType::Int64, ReduceOp::Product, {kLeast, 3}), kLeast);
  EXPECT_EQ(combined<std::int32_t>(DType::Int32, ReduceOp::Product, {1 << 30, 4, 7}), 0);
}

TEST(CombineContract, MeanDividesByTheDivisorTowardsZero) {
  EXPECT_EQ(combined<std::int32_t>(DType::Int32, ReduceOp::Mean, {-3, -4}, 2), -3);
  EXPECT_EQ(combined<std::int32_t>(DType::Int32, ReduceOp::Mean, {7}, 2), 3);
  EXPECT_EQ(combined<float>(DType::Float32, ReduceOp::Mean, {1, 2}, 3), 1.0f);
  EXPECT_EQ(combined<double>(DType::Float64, ReduceOp::Mean, {1}, 3), 1.0 / 3);
}

TEST(CombineContract, OneNanAnywhereMakesAMinimumNan) {
  for (std::size_t n = 2; n <= 9; ++n) {
    for (std::size_t place = 0; place < n; ++place) {
      std::vector<float> values(n, 2.0f);
      values[place] = NAN;
      EXPECT_TRUE(std::isnan(combined(DType::Float32, ReduceOp::Min, values)));
      EXPECT_TRUE(std::isnan(combined(DType::Float32, ReduceOp::Max, values)));
      std::vector<std::uint16_t> halves(n, narrow_half(2));
      halves[place] = 0x7e01;
      EXPECT_GT(combined(DType::Float16, ReduceOp::Min, halves), 0x7c00);
      EXPECT_GT(combined(DType::Float16, ReduceOp::Max, halves), 0x7c00);
    }
  }
}

TEST(CombineContract, NoSourceOrNoDestinationIsMisuse) {
  float value = 1;
  const void* source = &value;
  void* place = &value;
  EXPECT_THROW(combine({}, {}, {&place, 1}, 1), Error);
  EXPECT_THROW(combine({}, {&source, 1}, {}, 1), Error);
}

}  // namespace
}  // namespace trireme::comm
