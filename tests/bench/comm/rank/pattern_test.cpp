// Goal:   a wrong element is found at any position and in every type, and correct outputs are
//         accepted.
// Method: outputs created from the pattern, then changed in one element.

#include "bench/comm/rank/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "trireme/comm/kernel/half.h"

namespace trireme::bench {
namespace {

using comm::DType;
using ::testing::HasSubstr;

std::string spoilt_at(std::vector<float>& values, std::size_t place, const Expectation& expected) {
  const float before = values[place];
  values[place] += 1;
  const auto wrong = find_wrong(comm::const_span(values), expected, 2);
  values[place] = before;
  return wrong.value_or("nothing");
}

TEST(Pattern, NeighboursAndRanksDifferOften) {
  int same_as_neighbour = 0;
  int same_as_rank = 0;
  std::set<int> seen;
  for (std::size_t i = 0; i < 1000; ++i) {
    seen.insert(pattern(0, i, 2));
    same_as_neighbour += pattern(0, i, 2) == pattern(0, i + 1, 2) ? 1 : 0;
    same_as_rank += pattern(0, i, 2) == pattern(1, i, 2) ? 1 : 0;
  }
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3, 4}));
  EXPECT_LT(same_as_neighbour, 500);
  EXPECT_LT(same_as_rank, 500);
}

TEST(Pattern, SumsStayExactInTheSmallestTypes) {
  for (int ranks : {1, 2, 31, 32, 127}) {
    for (std::size_t i = 0; i < 100; ++i) {
      int sum = 0;
      for (int rank = 0; rank < ranks; ++rank) sum += pattern(rank, i, ranks);
      EXPECT_LE(sum, 127) << ranks;
      EXPECT_EQ(comm::widen_bfloat16(comm::narrow_bfloat16(static_cast<float>(sum))), sum);
    }
  }
}

TEST(Pattern, ASpoiltElementIsFoundAtTheEdgesToo) {
  std::vector<float> values(4097);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(pattern(0, i + 7, 2) + pattern(1, i + 7, 2));
  }
  const Expectation expected{0, values.size(), 7, {0, 1}};
  EXPECT_FALSE(find_wrong(comm::const_span(values), expected, 2));
  for (std::size_t place : {0, 1, 1023, 1024, 4095, 4096}) {
    EXPECT_THAT(spoilt_at(values, place, expected),
                HasSubstr("element " + std::to_string(place) + " is "));
  }
  const Expectation middle{1000, 97, 1007, {0, 1}};
  EXPECT_FALSE(find_wrong(comm::const_span(values), middle, 2));
  EXPECT_THAT(spoilt_at(values, 1096, middle), HasSubstr("element 1096"));
  EXPECT_EQ(spoilt_at(values, 1097, middle), "nothing") << "beyond what was asked";
}

TEST(Pattern, EveryTypeIsFilledAndRead) {
  for (int t = 0; t < comm::kDTypeCount; ++t) {
    const auto type = static_cast<DType>(t);
    std::vector<std::byte> bytes(257 * comm::size_of(type));
    const comm::Span all{bytes.data(), 257, type};
    fill(all, 1, 3);
    EXPECT_FALSE(find_wrong(all, {0, 257, 0, {1}}, 3)) << comm::name_of(type);
    EXPECT_TRUE(find_wrong(all, {0, 257, 0, {2}}, 3)) << comm::name_of(type);
    EXPECT_TRUE(find_wrong(all, {0, 256, 1, {1}}, 3)) << "shifted by one";
  }
}

TEST(Pattern, NothingIsRight) {
  EXPECT_FALSE(find_wrong({nullptr, 0, DType::Float32}, {0, 0, 0, {0}}, 1));
}

}  // namespace
}  // namespace trireme::bench
