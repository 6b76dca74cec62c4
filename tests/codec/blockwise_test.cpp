// Goal:   the error of blocks equals the documented formulas, also at the end of buckets and beside
//         gaps between parameters; int8 equals plain arithmetic with the same dither.
// Method: error norms of random values compared with the formula in double; int8 computed in
//         double.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "trireme/base/philox.h"
#include "trireme/base/random.h"
#include "trireme/codec/kinds.h"

namespace trireme::codec {
namespace {

std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::vector<float> sent_of(const Codec& codec, const std::vector<float>& values,
                           std::span<const BucketPart> parts, const Draw& draw = {}) {
  Bytes out(codec.size_max(values.size(), parts));
  out.resize(codec.encode(values, parts, draw, out));
  std::vector<float> sum(values.size());
  codec.add(out, parts, sum);
  return sum;
}

double norm_of(const std::vector<float>& values) {
  double all = 0;
  for (const float value : values) all += double{value} * value;
  return std::sqrt(all);
}

// norm^2 of the error = norm^2 - (sum of magnitudes)^2 / m, block by block.
void expect_sign_formula(const std::vector<float>& values, std::span<const BucketPart> parts) {
  const std::vector<float> sent = sent_of(*make_codec({.kind = CodecKind::Sign}), values, parts);
  for (std::size_t begin = 0; begin < values.size(); begin += 256) {
    double lost = 0, squares = 0, sum = 0, m = 0;
    for (std::size_t i = begin; i < std::min(begin + 256, values.size()); ++i) {
      lost += (double{values[i]} - sent[i]) * (double{values[i]} - sent[i]);
      squares += double{values[i]} * values[i];
      sum += std::fabs(values[i]);
      m += values[i] != 0 ? 1 : 0;  // random values of parameters are not zero
    }
    EXPECT_NEAR(lost, squares - sum * sum / m, 1e-5 * squares) << values.size() << " " << begin;
  }
}

TEST(CodecSign, LosesWhatItsFormulaSays) {
  for (const std::size_t count : {1u, 2u, 10u, 255u, 256u, 257u, 300u, 1009u}) {
    expect_sign_formula(normal_values(count, count), {});
  }
}

TEST(CodecSign, WhatLiesBetweenParametersIsZeroAndDoesNotCount) {
  std::vector<float> values = normal_values(600, 3);
  const BucketPart parts[] = {{.begin = 0, .count = 10, .rows = 1, .columns = 10},
                              {.begin = 16, .count = 250, .rows = 1, .columns = 250},
                              {.begin = 272, .count = 301, .rows = 1, .columns = 301}};
  std::vector<bool> is_gap(values.size(), true);
  for (const BucketPart& part : parts) {
    for (std::size_t i = 0; i < part.count; ++i) is_gap[part.begin + i] = false;
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = is_gap[i] ? 0 : values[i];
  expect_sign_formula(values, parts);
  std::vector<float> residual(values.size()), sum(values.size());
  const auto made = make_codec({.kind = CodecKind::Sign});
  const Codec& codec = *made;
  for (std::uint64_t step = 0; step < 5; ++step) {
    Bytes out(codec.size_max(values.size(), parts));
    codec.encode_fed(values, residual, parts, {.stream = step}, out);
    codec.add(out, parts, sum);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_gap[i]) {
      ASSERT_EQ(sum[i], 0) << i;
      ASSERT_EQ(residual[i], 0) << i;
    } else {
      ASSERT_NEAR(sum[i] + residual[i], 5 * double{values[i]}, 1e-4) << i;
    }
  }
}

// Each step retains at most the fraction 1 - 1/m of the squared norm, so the residual after equal
// steps is at most q / (1 - q) times the norm of one of them, where q^2 = 1 - 1/m.
TEST(CodecSign, LeavesAtMostItsBoundWithErrorFeedbackInSmallBlocks) {
  const auto made = make_codec({.kind = CodecKind::Sign});
  const Codec& codec = *made;
  for (const std::size_t count : {1u, 10u, 257u}) {
    const std::vector<float> values = normal_values(count, count + 7);
    std::vector<float> residual(count);
    for (std::uint64_t step = 0; step < 400; ++step) {
      Bytes out(codec.size_max(count, {}));
      codec.encode_fed(values, residual, {}, {.stream = step}, out);
    }
    // The last block: all values of 1 and 10, and one value of 257.
    const std::size_t m = count % 256;
    const std::vector<float> left(residual.end() - static_cast<std::ptrdiff_t>(m), residual.end());
    const std::vector<float> last(values.end() - static_cast<std::ptrdiff_t>(m), values.end());
    const double q = std::sqrt(1 - 1.0 / static_cast<double>(m));
    EXPECT_LE(norm_of(left), q / (1 - q) * norm_of(last) + 1e-6) << count;
  }
}

// encode8 in double: floor of v / step + dither, where the dither of value i of a block is a hash
// of i and of the block's 64 random bits.
TEST(CodecInt8, IsThatOfPlainArithmetic) {
  const std::vector<float> values = normal_values(700, 9);
  const Draw draw{.seed = 11, .stream = 4, .rank = 2};
  const std::vector<float> sent = sent_of(*make_codec({.kind = CodecKind::Int8}), values, {}, draw);
  std::size_t near_a_bound = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += 256) {
    const std::size_t end = std::min(begin + 256, values.size());
    double most = 0;
    for (std::size_t i = begin; i < end; ++i) most = std::max(most, std::fabs(double{values[i]}));
    const PhiloxBlock random = philox(philox_key(draw.seed ^ std::uint64_t{draw.rank} << 32),
                                      philox_counter(begin / 256, draw.stream));
    for (std::size_t i = begin; i < end; ++i) {
      std::uint32_t hash = static_cast<std::uint32_t>(i - begin) * 0x9e3779b9u + random[0];
      hash = (hash ^ hash >> 16) * 0x7feb352du;
      hash = (hash ^ hash >> 15 ^ random[1]) * 0x846ca68bu;
      const double placed = values[i] / (most / 127) + (hash >> 16) / 65536.0;
      const double expected = std::floor(placed) * (most / 127);
      if (std::fabs(placed - std::round(placed)) < 1e-4) {
        ++near_a_bound;  // float32 may round to the other side
        continue;
      }
      ASSERT_NEAR(sent[i], expected, 1e-6 * most) << i;
    }
  }
  EXPECT_LT(near_a_bound, 10u);
}

}  // namespace
}  // namespace trireme::codec
