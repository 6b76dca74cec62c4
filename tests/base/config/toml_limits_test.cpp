// Goal:   text that would overflow a parser's stack is refused before parsing, and realistic text
//         is not.
// Method: text at and just beyond each limit; brackets and dots where they do not count.

#include "trireme/base/config/toml_limits.h"

#include <gtest/gtest.h>

#include "trireme/base/config/toml_reader.h"

namespace trireme::config {
namespace {

std::string repeat(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

TEST(TomlLimits, FindsDepthAtItsLine) {
  EXPECT_FALSE(find_toml_excess("a = " + repeat("[", kTomlDepthMax)));
  const auto deep = find_toml_excess("x = 1\na = " + repeat("[", kTomlDepthMax + 1));
  ASSERT_TRUE(deep.has_value());
  EXPECT_EQ(deep->line, 2);
  EXPECT_EQ(deep->what, "more than 32 brackets within brackets");
  EXPECT_TRUE(find_toml_excess("a = " + repeat("{b=", kTomlDepthMax + 1)));
  EXPECT_TRUE(find_toml_excess("a = [\n" + repeat("[\n", kTomlDepthMax)));
}

TEST(TomlLimits, FindsDotsOfOneKey) {
  EXPECT_FALSE(find_toml_excess(repeat("a.", kTomlDotsMax) + "a = 1"));
  EXPECT_TRUE(find_toml_excess(repeat("a.", kTomlDotsMax + 1) + "a = 1"));
  EXPECT_TRUE(find_toml_excess("[" + repeat("a . ", kTomlDotsMax + 1) + "a]"));
  EXPECT_TRUE(find_toml_excess("x = {" + repeat("'a'.", kTomlDotsMax + 1) + "a = 1}"));
}

TEST(TomlLimits, IgnoresStringsAndComments) {
  const std::string hostile = repeat("[", 100) + repeat(".", 100);
  EXPECT_FALSE(find_toml_excess("# " + hostile + "\n"));
  EXPECT_FALSE(find_toml_excess("a = \"" + hostile + " \\\" " + hostile + "\""));
  EXPECT_FALSE(find_toml_excess("a = '" + hostile + "'"));
  EXPECT_FALSE(find_toml_excess("a = \"\"\"" + hostile + "\n\"" + hostile + "\"\"\""));
  EXPECT_FALSE(find_toml_excess("a = '''" + hostile + "\n'" + hostile + "'''"));
  EXPECT_TRUE(find_toml_excess("a = '''x'''" + hostile)) << "the string has ended";
  EXPECT_TRUE(find_toml_excess("a = \"x\n" + hostile)) << "a short string ends with its line";
}

TEST(TomlLimits, AcceptsLongButShallowText) {
  EXPECT_FALSE(find_toml_excess(repeat("a.b = [1.5, 2.5, {c.d = 1.0}]\n", 10'000)));
  EXPECT_FALSE(find_toml_excess("a = [" + repeat("1.5, ", 1000) + "]"));
}

TEST(TomlLimits, BoundsTheSize) {
  EXPECT_FALSE(find_toml_excess(std::string(kTomlSizeMax, ' ')));
  EXPECT_TRUE(find_toml_excess(std::string(kTomlSizeMax + 1, ' ')));
}

}  // namespace
}  // namespace trireme::config
