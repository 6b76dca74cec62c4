// Goal:   Philox4x32-10 equals the published function, also at compile time.
// Method: the known answers of the authors' Random123 library; uniform numbers at the ends of their
//         range.

#include "trireme/base/philox.h"

#include <gtest/gtest.h>

#include <set>

namespace trireme {
namespace {

TEST(Philox, MatchesTheKnownAnswersOfItsAuthors) {
  EXPECT_EQ(philox({0, 0}, {0, 0, 0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  // The digits of pi.
  EXPECT_EQ(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsAConstantExpression) {
  constexpr PhiloxBlock block = philox(philox_key(0), philox_counter(0, 0));
  static_assert(block[0] == 0x6627e8d5);
  EXPECT_EQ(block[3], 0x9b00dbd8u);
}

TEST(Philox, SeedIndexAndStreamUseAllTheirBits) {
  std::set<PhiloxBlock> seen;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t x = std::uint64_t{1} << bit;
    seen.insert(philox(philox_key(x), philox_counter(0, 0)));
    seen.insert(philox(philox_key(0), philox_counter(x, 0)));
    seen.insert(philox(philox_key(0), philox_counter(0, x)));
  }
  EXPECT_EQ(seen.size(), 3u * 64u);
}

TEST(Philox, UniformsStayBelowOne) {
  EXPECT_EQ(uniform_float(0), 0.0f);
  EXPECT_EQ(uniform_double(0), 0.0);
  EXPECT_LT(uniform_float(0xffffffff), 1.0f);
  EXPECT_LT(uniform_double(~std::uint64_t{0}), 1.0);
  EXPECT_EQ(uniform_float(0xffffffff), 1.0f - 0x1p-24f);
  EXPECT_EQ(uniform_double(~std::uint64_t{0}), 1.0 - 0x1p-53);
  EXPECT_EQ(uniform_float(0x80000000), 0.5f);
  EXPECT_EQ(uniform_double(std::uint64_t{1} << 63), 0.5);
}

}  // namespace
}  // namespace trireme
