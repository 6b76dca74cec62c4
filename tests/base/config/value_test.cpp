// Goal:   values are written as equivalent TOML, and shown safely in messages.
// Method: compare complete texts; read written values back.

#include "trireme/base/config/value.h"

#include <gtest/gtest.h>

#include <limits>

#include "trireme/base/config/toml_reader.h"
#include "trireme/base/error.h"

namespace trireme::config {
namespace {

Value list(List items) {
  return {std::move(items)};
}

TEST(ConfigValue, ReadsBackAsItWasWritten) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Value values[] = {
      {true},
      {false},
      {std::int64_t{0}},
      {std::numeric_limits<std::int64_t>::min()},
      {std::numeric_limits<std::int64_t>::max()},
      {0.1},
      {-0.0},
      {1.0},
      {1e300},
      {5e-324},
      {infinity},
      {-infinity},
      {std::string()},
      {std::string("two words")},
      {std::string("\"quoted\" \\ and\nlines\tand \x01 \x7f\x1b[31m")},
      {std::string("grüße 漢字 🚣")},
      {std::string("a\0b", 3)},
      list({}),
      list({{std::int64_t{1}}, {std::int64_t{2}}}),
      list({{std::string("a, b")}, list({{true}, list({})})}),
  };
  for (const Value& value : values) {
    EXPECT_EQ(read_toml_value(to_toml(value)), value) << to_toml(value);
  }
}

TEST(ConfigValue, IsWrittenInTheUsualForm) {
  EXPECT_EQ(to_toml({1.0}), "1.0");
  EXPECT_EQ(to_toml({std::string("a\"b")}), R"("a\"b")");
  EXPECT_EQ(to_toml(list({{true}, {std::string("x")}})), R"([true, "x"])");
  EXPECT_EQ(to_plain({std::string("5 s")}), "5 s");
  EXPECT_EQ(to_plain({std::string()}), "\"\"");
  EXPECT_EQ(to_plain({}), "not set");
}

TEST(ConfigValue, ValuesThatNoFieldHoldsCannotBeWritten) {
  EXPECT_THROW(to_toml({}), Error);
  EXPECT_THROW(to_toml({Other{"table"}}), Error);
}

TEST(ConfigValue, NamesItsType) {
  EXPECT_EQ(type_of({true}), "a boolean");
  EXPECT_EQ(type_of({std::int64_t{1}}), "an integer");
  EXPECT_EQ(type_of({1.5}), "a floating-point number");
  EXPECT_EQ(type_of({std::string()}), "text");
  EXPECT_EQ(type_of(list({})), "a list");
  EXPECT_EQ(type_of({Other{"date or time"}}), "a date or time");
}

TEST(ConfigValue, IsShownBriefly) {
  EXPECT_EQ(to_brief({std::string("short")}), "\"short\"");
  const std::string cut = to_brief({std::string(1'000'000, 'x')});
  EXPECT_EQ(cut, "\"" + std::string(60, 'x') + "\"...");
  EXPECT_LT(to_brief(list(List(100'000, {std::int64_t{12345}}))).size(), 100u);
  // A cut at sixty bytes would split one of these two-byte characters.
  std::string text = "a";
  for (int i = 0; i < 50; ++i) text += "ü";
  EXPECT_EQ(to_brief({text}).find("FFFD"), std::string::npos);
}

TEST(ConfigValue, InvalidUtf8IsReplaced) {
  EXPECT_EQ(quote_toml("a\xff"), "\"a\\uFFFD\"");
}

TEST(ConfigValue, KeysAreUnquotedIfPossible) {
  EXPECT_EQ(key_toml("a-Z_0"), "a-Z_0");
  EXPECT_EQ(key_toml("a.b"), "\"a.b\"");
  EXPECT_EQ(key_toml(""), "\"\"");
  EXPECT_EQ(dotted_toml("a.b"), "a.b");
  EXPECT_EQ(dotted_toml("a\x1b[31m"), "\"a\\u001B[31m\"");
}

}  // namespace
}  // namespace trireme::config
