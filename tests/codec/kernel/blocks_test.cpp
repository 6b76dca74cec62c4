// Goal:   the loops for this machine give the same bits as the portable ones, and round as
//         documented.
// Method: both tables on the same values, including zeros, tiny values and blocks with non-finite
//         values; the mean over many seeds for the rounding.

#include "trireme/codec/kernel/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "trireme/base/random.h"

namespace trireme::codec::kernel {
namespace {

constexpr std::size_t kBlocks = 5;
constexpr std::size_t kCount = kBlocks * kBlock;

std::vector<float> mixed_values() {
  Random random(3);
  std::vector<float> values(kCount);
  for (float& value : values) value = static_cast<float>(random.normal());
  for (std::size_t i = 0; i < kBlock; ++i) values[kBlock + i] = 0;
  for (std::size_t i = 0; i < kBlock; ++i) values[2 * kBlock + i] *= 1e-38f;
  values[3 * kBlock + 17] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

struct Coded {
  std::vector<float> residual = std::vector<float>(kCount, 0.01f);
  std::vector<float> scales = std::vector<float>(kBlocks);
  std::vector<std::uint8_t> codes = std::vector<std::uint8_t>(kCount);
  std::vector<float> sum = std::vector<float>(kCount, 0.5f);
};

Coded coded_by(void (*encode)(const Encoding&), void (*add)(const Decoding&)) {
  const std::vector<float> values = mixed_values();
  const std::vector<std::uint64_t> seeds = {1, 22, 333, 4444, 55555};
  Coded all;
  encode({.values = values.data(),
          .residual = all.residual.data(),
          .blocks = kBlocks,
          .seeds = seeds.data(),
          .scales = all.scales.data(),
          .codes = all.codes.data()});
  add({.scales = all.scales.data(),
       .codes = all.codes.data(),
       .blocks = kBlocks,
       .sum = all.sum.data()});
  return all;
}

template <class T>
bool are_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

void expect_same(const Coded& a, const Coded& b) {
  EXPECT_TRUE(are_same_bits(a.residual, b.residual));
  EXPECT_TRUE(are_same_bits(a.scales, b.scales));
  EXPECT_EQ(a.codes, b.codes);
  EXPECT_TRUE(are_same_bits(a.sum, b.sum));
}

TEST(CodecBlocks, GiveTheSameBitsOnEveryMachine) {
  const Loops& here = loops();
  const Loops& anywhere = portable_loops();
  expect_same(coded_by(here.encode8, here.add8), coded_by(anywhere.encode8, anywhere.add8));
  expect_same(coded_by(here.encode4, here.add4), coded_by(anywhere.encode4, anywhere.add4));
  expect_same(coded_by(here.encode_signs, here.add_signs),
              coded_by(anywhere.encode_signs, anywhere.add_signs));
}

TEST(CodecBlocks, HalvesAreTheSameOnEveryMachine) {
  std::vector<float> values = mixed_values();
  values[0] = 65519;
  values[1] = -1e30f;
  values[2] = std::numeric_limits<float>::infinity();
  values[3] = 3.4e38f;
  values[4] = 1e-7f;
  for (const bool is_half : {true, false}) {
    std::vector<std::uint16_t> packed[2];
    std::vector<float> sums[2];
    int index = 0;
    for (const Loops* one : {&loops(), &portable_loops()}) {
      packed[index].resize(kCount);
      sums[index].assign(kCount, 1);
      (is_half ? one->narrow_half : one->narrow_bfloat16)(values.data(), packed[index].data(),
                                                          kCount - 3);
      (is_half ? one->add_half : one->add_bfloat16)(packed[index].data(), sums[index].data(),
                                                    kCount - 3);
      ++index;
    }
    EXPECT_EQ(packed[0], packed[1]) << is_half;
    EXPECT_TRUE(are_same_bits(sums[0], sums[1])) << is_half;
    EXPECT_TRUE(std::isinf(sums[0][2]));
    EXPECT_TRUE(std::isfinite(sums[0][1]) && std::isfinite(sums[0][3]));
    EXPECT_LT(sums[0][1], -60000.0f);
  }
}

TEST(CodecBlocks, SumsOfVectorsAreTheSameOnEveryMachine) {
  Random random(4);
  std::vector<float> a(1003), b(1003);
  for (float& one : a) one = random.uniform_float();
  for (float& one : b) one = random.uniform_float();
  for (const std::size_t count : {0u, 1u, 15u, 16u, 17u, 1003u}) {
    EXPECT_EQ(loops().dot(a.data(), b.data(), count),
              portable_loops().dot(a.data(), b.data(), count));
    std::vector<float> here = b, anywhere = b;
    loops().add_scaled(0.3f, a.data(), here.data(), count);
    portable_loops().add_scaled(0.3f, a.data(), anywhere.data(), count);
    EXPECT_EQ(here, anywhere);
  }
}

// A block with a non-finite value becomes NaN completely, its neighbours are unaffected, and its
// residual is reset.
TEST(CodecBlocks, ABrokenBlockIsNaN) {
  const Coded all = coded_by(loops().encode8, loops().add8);
  for (std::size_t i = 0; i < kBlock; ++i) {
    ASSERT_TRUE(std::isnan(all.sum[3 * kBlock + i]));
    ASSERT_EQ(all.residual[3 * kBlock + i], 0);
    ASSERT_TRUE(std::isfinite(all.sum[4 * kBlock + i]));
  }
}

TEST(CodecBlocks, TheEndsOfTheRangeStayThere) {
  std::vector<float> values(kBlock, 0.3f);
  values[0] = 1;
  values[1] = -1;
  std::vector<std::uint8_t> codes(kBlock);
  float scale = 0;
  double sum = 0;
  constexpr std::uint64_t kSeeds = 4000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    loops().encode8({.values = values.data(),
                     .blocks = 1,
                     .seeds = &seed,
                     .scales = &scale,
                     .codes = codes.data()});
    ASSERT_EQ(static_cast<std::int8_t>(codes[0]), 127);
    ASSERT_LE(static_cast<std::int8_t>(codes[1]), -126);
    sum += static_cast<std::int8_t>(codes[5]) * double{scale};
  }
  // 38.1 of 127 steps: rounded up once in ten times. The deviation of the mean is 0.3 / sqrt(4000)
  // steps.
  EXPECT_NEAR(sum / kSeeds, 0.3, 5 * 0.3 / std::sqrt(double{kSeeds}) / 127);
}

}  // namespace
}  // namespace trireme::codec::kernel
