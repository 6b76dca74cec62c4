// Goal:   16-bit floats are widened exactly and narrowed to the nearest value, ties to even.
// Method: all 65,536 values of each format are compared with ldexp; floats at, beside and between
//         all of them, and a walk over all exponents, are compared with a search in the sorted
//         table of representable doubles.

#include "trireme/comm/kernel/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace trireme::comm {
namespace {

// A 16-bit format, described independently of the code under test.
struct Format {
  int fraction_bits;
  int bias;
  float (*widen)(std::uint16_t);
  std::uint16_t (*narrow)(float);

  std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(0x7fff >> fraction_bits << fraction_bits);
  }
  double value_of(std::uint16_t bits) const {
    const int exponent = (bits & 0x7fff) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int implicit = exponent == 0 ? 0 : 1 << fraction_bits;
    const double magnitude =
        std::ldexp(implicit + fraction, std::max(exponent, 1) - bias - fraction_bits);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
};

constexpr Format kHalf{10, 15, widen_half, narrow_half};
constexpr Format kBFloat16{7, 127, widen_bfloat16, narrow_bfloat16};

// The finite values from 0 upwards, then the value at which rounding gives infinity.
std::vector<double> table_of(const Format& format) {
  std::vector<double> values;
  for (std::uint16_t bits = 0; bits < format.infinity(); ++bits) {
    values.push_back(format.value_of(bits));
  }
  values.push_back(2 * values.back() - values[values.size() - 2]);
  return values;
}

std::uint16_t nearest(const std::vector<double>& table, float value) {
  const double magnitude = std::fabs(static_cast<double>(value));
  const auto above = std::lower_bound(table.begin(), table.end(), magnitude);
  std::size_t index = static_cast<std::size_t>(above - table.begin());
  if (index == table.size()) {
    --index;
  } else if (index != 0 && *above != magnitude) {
    const double up = *above - magnitude;
    const double down = magnitude - table[index - 1];
    if (down < up || (down == up && (index - 1) % 2 == 0)) --index;
  }
  return static_cast<std::uint16_t>(index | (std::signbit(value) ? 0x8000u : 0u));
}

void expect_widens_exactly(const Format& format) {
  for (int bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = format.widen(half);
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << bits;
    const int magnitude = bits & 0x7fff;
    if (magnitude < format.infinity()) {
      ASSERT_EQ(static_cast<double>(wide), format.value_of(half)) << bits;
      ASSERT_EQ(format.narrow(wide), half);
    } else if (magnitude == format.infinity()) {
      ASSERT_TRUE(std::isinf(wide));
      ASSERT_EQ(format.narrow(wide), half);
    } else {
      ASSERT_TRUE(std::isnan(wide)) << bits;
      ASSERT_TRUE(std::isnan(format.widen(format.narrow(wide)))) << bits;
    }
  }
}

void expect_rounds(const Format& format, const std::vector<double>& table, float value) {
  for (const float signed_value : {value, -value}) {
    ASSERT_EQ(format.narrow(signed_value), nearest(table, signed_value))
        << std::hexfloat << signed_value;
  }
}

void expect_narrows_to_nearest(const Format& format) {
  const std::vector<double> table = table_of(format);
  const float inf = INFINITY;
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    const auto exact = static_cast<float>(table[i]);
    const auto middle = static_cast<float>((table[i] + table[i + 1]) / 2);
    for (const float value : {exact, middle}) {
      expect_rounds(format, table, value);
      expect_rounds(format, table, std::nextafter(value, inf));
      if (value != 0) expect_rounds(format, table, std::nextafter(value, 0.0f));
    }
  }
  for (std::uint64_t bits = 0; bits < 0x7f800000u; bits += 9973) {
    expect_rounds(format, table, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
}

TEST(Half, EveryHalfWidensExactlyAndNarrowsBack) {
  expect_widens_exactly(kHalf);
}
TEST(Half, EveryBFloat16WidensExactlyAndNarrowsBack) {
  expect_widens_exactly(kBFloat16);
}
TEST(Half, FloatsNarrowToTheNearestHalf) {
  expect_narrows_to_nearest(kHalf);
}
TEST(Half, FloatsNarrowToTheNearestBFloat16) {
  expect_narrows_to_nearest(kBFloat16);
}

TEST(Half, ValuesOutOfRangeBecomeInfinity) {
  EXPECT_EQ(narrow_half(65519.996f), 0x7bff);
  EXPECT_EQ(narrow_half(65520.0f), 0x7c00);
  EXPECT_EQ(narrow_half(-1e30f), 0xfc00);
  EXPECT_EQ(narrow_bfloat16(3.4e38f), 0x7f80);
}

TEST(Half, EveryNanStaysNan) {
  for (std::uint64_t payload = 1; payload < 0x800000u; payload += 4099) {
    for (const std::uint64_t sign : {0x7f800000u, 0xff800000u}) {
      const float nan = std::bit_cast<float>(static_cast<std::uint32_t>(sign | payload));
      ASSERT_GT(narrow_half(nan) & 0x7fff, 0x7c00) << payload;
      ASSERT_GT(narrow_bfloat16(nan) & 0x7fff, 0x7f80) << payload;
    }
  }
}

}  // namespace
}  // namespace trireme::comm
