// Goal:   text on a command line is parsed as the value that the user means.
// Method: tables of texts for each shape of field.

#include "trireme/base/config/override.h"

#include <gtest/gtest.h>

namespace trireme::config {
namespace {

constexpr Shape kPlain{};
constexpr Shape kText{.is_text = true};
constexpr Shape kList{.is_list = true};
constexpr Shape kTexts{.is_text = true, .is_list = true};

Value text(std::string value) {
  return {std::move(value)};
}
Value integer(std::int64_t value) {
  return {value};
}

TEST(ConfigOverride, SplitsAtTheFirstEqualsSign) {
  const auto said = split_override(" run.name = a=b ");
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->key, "run.name");
  EXPECT_EQ(said->text, "a=b");
  EXPECT_EQ(split_override("a=")->text, "");
  for (const char* wrong : {"", "a", "=1", " = 1"}) EXPECT_FALSE(split_override(wrong)) << wrong;
}

TEST(ConfigOverride, PlainValuesAreToml) {
  EXPECT_EQ(override_value("4", kPlain), integer(4));
  EXPECT_EQ(override_value("0.5", kPlain), Value{0.5});
  EXPECT_EQ(override_value("true", kPlain), Value{true});
  EXPECT_EQ(override_value("four", kPlain), text("four")) << "for the field to refuse";
  EXPECT_EQ(override_value("1\nx = 2", kPlain), text("1\nx = 2")) << "one value, not two lines";
}

TEST(ConfigOverride, TextNeedsNoQuotationMarks) {
  EXPECT_EQ(override_value("my job", kText), text("my job"));
  EXPECT_EQ(override_value("5", kText), text("5"));
  EXPECT_EQ(override_value("true", kText), text("true"));
  EXPECT_EQ(override_value("\"a\\tb\"", kText), text("a\tb"));
  EXPECT_EQ(override_value("'a\\tb'", kText), text("a\\tb"));
  EXPECT_EQ(override_value("\"unclosed", kText), text("\"unclosed"));
}

TEST(ConfigOverride, ListsNeedNoBrackets) {
  EXPECT_EQ(override_value("1, 2,3", kList), (Value{List{integer(1), integer(2), integer(3)}}));
  EXPECT_EQ(override_value("[1, 2]", kList), (Value{List{integer(1), integer(2)}}));
  EXPECT_EQ(override_value("[]", kList), Value{List{}});
  EXPECT_EQ(override_value("a,b c", kTexts), (Value{List{text("a"), text("b c")}}));
  EXPECT_EQ(override_value("['a,b']", kTexts), Value{List{text("a,b")}});
}

TEST(ConfigOverride, EmptyTextIsAnEmptyValue) {
  for (Shape shape : {kPlain, kText, kList, kTexts}) EXPECT_EQ(override_value("", shape), Value{});
  EXPECT_EQ(override_value("\"\"", kText), text(""));
}

}  // namespace
}  // namespace trireme::config
