// Goal:   every type of setting reads valid values, refuses values beyond its bounds, and writes
//         text that reads back.
// Method: each type at the limits of its range; refusals are compared by their text.

#include "trireme/base/config/field_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "trireme/base/error.h"

namespace trireme::config {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

enum class Colour { Red, Green };

template <class T>
using RulesOf = Rules<typename FieldType<T>::Element>;

template <class T>
void expect_round_trip(const T& member, const RulesOf<T>& rules = {}) {
  EXPECT_EQ(FieldType<T>::read(FieldType<T>::write(member, rules), rules), member);
}

template <class T>
std::string complaint(const Value& value, const RulesOf<T>& rules = {}) {
  try {
    FieldType<T>::read(value, rules);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

Value integer(std::int64_t value) {
  return {value};
}

TEST(ConfigFieldType, EveryTypeReadsWhatItWrote) {
  expect_round_trip(true);
  expect_round_trip<std::int8_t>(-128);
  expect_round_trip<std::uint16_t>(65535);
  expect_round_trip(std::numeric_limits<std::int64_t>::min());
  expect_round_trip(0.1f);
  expect_round_trip(0.1);
  expect_round_trip(std::numeric_limits<double>::infinity());
  expect_round_trip<std::string>("x");
  expect_round_trip<std::filesystem::path>("/a b/c");
  expect_round_trip<Duration>(1500ms);
  expect_round_trip<std::chrono::seconds>(90s);
  expect_round_trip<ByteSize>(ByteSize{3 << 20});
  expect_round_trip<std::vector<int>>({});
  expect_round_trip<std::vector<int>>({1, 2, 3});
  expect_round_trip<std::vector<bool>>({true, false});
  expect_round_trip<std::vector<Duration>>({1s, 2ms});
  expect_round_trip<std::optional<int>>(std::nullopt);
  expect_round_trip<std::optional<int>>(5);
  expect_round_trip<std::optional<std::vector<std::string>>>({{"a", "b"}});
  const Rules<Colour> rules{
      .least = {}, .most = {}, .names = {{"red", Colour::Red}, {"green", Colour::Green}}};
  expect_round_trip(Colour::Green, rules);
  expect_round_trip<std::vector<Colour>>({Colour::Red, Colour::Green}, rules);
}

TEST(ConfigFieldType, IntegersAreBoundedByTheirMembersType) {
  EXPECT_EQ(complaint<std::int8_t>(integer(127)), "");
  EXPECT_EQ(complaint<std::int8_t>(integer(128)), "128 is more than 127, the most allowed");
  EXPECT_EQ(complaint<std::uint32_t>(integer(-1)), "-1 is less than 0, the least allowed");
  EXPECT_EQ(complaint<std::uint64_t>(integer(std::numeric_limits<std::int64_t>::max())), "");
  EXPECT_EQ(complaint<int>(integer(5), {.least = 1, .most = 4, .names = {}}),
            "5 is more than 4, the most allowed");
  EXPECT_THROW(FieldType<std::uint64_t>::write(~std::uint64_t{0}, {}), Error);
}

TEST(ConfigFieldType, NegativeDurationsAreRefusedByDefault) {
  const Value negative{std::string("-5 s")};
  EXPECT_EQ(complaint<Duration>(negative), "\"-5 s\" is less than 0 s, the least allowed");
  EXPECT_EQ(complaint<Duration>(negative, {.least = -10s, .most = {}, .names = {}}), "");
}

TEST(ConfigFieldType, DurationsAreNeverRounded) {
  EXPECT_EQ(complaint<std::chrono::milliseconds>({std::string("5 us")}),
            "\"5 us\" is finer than the setting, which counts 1 ms");
  EXPECT_EQ(complaint<std::chrono::milliseconds>({std::string("5000 us")}), "");
}

TEST(ConfigFieldType, RulesApplyToItemsOfLists) {
  const Rules<int> rules{.least = 0, .most = 9, .names = {}};
  EXPECT_EQ(complaint<std::vector<int>>({List{integer(1), integer(9)}}, rules), "");
  EXPECT_THAT(complaint<std::vector<int>>({List{integer(1), integer(10)}}, rules),
              HasSubstr("10 is more than 9"));
  EXPECT_THAT(complaint<std::vector<int>>({List{{std::string("x")}}}), HasSubstr("is text"));
  EXPECT_THAT(complaint<std::vector<int>>(integer(1)), HasSubstr("needs a list"));
  EXPECT_THAT(complaint<std::optional<int>>(integer(10), rules), HasSubstr("10 is more than 9"));
}

TEST(ConfigFieldType, ReportsItsNameAndShape) {
  EXPECT_EQ(FieldType<int>::name({}), "integer");
  EXPECT_EQ(FieldType<std::optional<std::vector<Duration>>>::name({}), "optional list of duration");
  EXPECT_FALSE(FieldType<int>::kShape.is_text);
  EXPECT_TRUE(FieldType<std::filesystem::path>::kShape.is_text);
  EXPECT_TRUE(FieldType<std::optional<std::vector<Colour>>>::kShape.is_text);
  EXPECT_TRUE(FieldType<std::optional<std::vector<Colour>>>::kShape.is_list);
}

}  // namespace
}  // namespace trireme::config
