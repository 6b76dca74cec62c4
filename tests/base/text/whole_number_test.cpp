// Goal:   a JSON number is accepted as an integer of a type only if the type can represent it.
// Method: the limits of each type, one beyond them, fractions, signs and values that are not
//         numbers.

#include "trireme/base/text/whole_number.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trireme/base/error.h"

namespace trireme {
namespace {

template <class Number>
Number read_number(const char* text) {
  return whole_number<Number>(nlohmann::json::parse(text));
}

TEST(WholeNumber, IsAcceptedWithinTheRangeOfItsType) {
  EXPECT_EQ(read_number<std::uint64_t>("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(read_number<std::uint64_t>("0"), 0u);
  EXPECT_EQ(read_number<std::int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(read_number<std::int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(read_number<int>("-2147483648"), INT32_MIN);
}

TEST(WholeNumber, IsRefusedOutsideOfIt) {
  for (const char* text : {"-1", "1.0", "1e300", "18446744073709551616", "null", "\"1\"", "[1]"}) {
    EXPECT_THROW(read_number<std::uint64_t>(text), Error) << text;
  }
  EXPECT_THROW(read_number<std::int64_t>("9223372036854775808"), Error);
  EXPECT_THROW(read_number<int>("2147483648"), Error);
  EXPECT_THROW(read_number<int>("-2147483649"), Error);
}

TEST(WholeNumber, ListsContainIntegersOnly) {
  EXPECT_EQ(whole_numbers<int>(nlohmann::json::parse("[3, 0, 7]")), (std::vector{3, 0, 7}));
  EXPECT_TRUE(whole_numbers<int>(nlohmann::json::parse("[]")).empty());
  EXPECT_THROW(whole_numbers<int>(nlohmann::json::parse("[3, 0.5]")), Error);
  EXPECT_THROW(whole_numbers<int>(nlohmann::json::parse("3")), Error);
}

}  // namespace
}  // namespace trireme
