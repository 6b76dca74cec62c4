// Goal:   a range refuses values outside it with a message in the setting's units, and names map to
//         their values.
// Method: values at, inside and outside both bounds; compare complete texts.

#include "trireme/base/config/rules.h"

#include <gtest/gtest.h>

#include "trireme/base/config/field_type.h"
#include "trireme/base/error.h"

namespace trireme::config {
namespace {

using namespace std::chrono_literals;

enum class Colour { Red, Green };

std::string complaint(int value, const Rules<int>& rules) {
  try {
    check_range({std::int64_t{value}}, value, rules);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(ConfigRules, BothEndsAreAllowed) {
  const Rules<int> rules{.least = 1, .most = 4, .names = {}};
  EXPECT_EQ(complaint(1, rules), "");
  EXPECT_EQ(complaint(4, rules), "");
  EXPECT_EQ(complaint(0, rules), "0 is less than 1, the least allowed");
  EXPECT_EQ(complaint(5, rules), "5 is more than 4, the most allowed");
  EXPECT_EQ(complaint(-1000, {}), "");
}

TEST(ConfigRules, RangesUseTheUnitsOfTheSetting) {
  EXPECT_EQ(range_text(Rules<int>{}), "");
  EXPECT_EQ(range_text(Rules<int>{.least = 1, .most = 4, .names = {}}), "1 to 4");
  EXPECT_EQ(range_text(Rules<Duration>{.least = 0s, .most = {}, .names = {}}), "at least 0 s");
  EXPECT_EQ(range_text(Rules<ByteSize>{
                .least = {}, .most = ByteSize{std::uint64_t{2} << 30}, .names = {}}),
            "at most 2 GiB");
}

TEST(ConfigRules, NamesMapToTheirValues) {
  const Rules<Colour> rules{
      .least = {}, .most = {}, .names = {{"red", Colour::Red}, {"green", Colour::Green}}};
  EXPECT_EQ(rules.name_of(Colour::Green), "green");
  EXPECT_EQ(rules.only_names(), (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(rules.list_names(), "\"red\", \"green\"");
  EXPECT_THROW(Rules<Colour>{}.name_of(Colour::Red), Error);
}

}  // namespace
}  // namespace trireme::config
