// Goal:   sections are found by name and keep the order of their declaration.
// Method: sections declared by several parts, one of them in two places.

#include "trireme/base/config/schema.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::config {
namespace {

TEST(ConfigSchema, KeepsTheOrderOfDeclaration) {
  Schema schema;
  schema.section("run", "starts");
  schema.section("data");
  schema.section("run.limits");
  ASSERT_EQ(schema.sections().size(), 3u);
  EXPECT_EQ(schema.sections()[0].name(), "run");
  EXPECT_EQ(schema.sections()[2].name(), "run.limits");
}

TEST(ConfigSchema, ASectionIsCreatedOnce) {
  Schema schema;
  Section& first = schema.section("data");
  for (int i = 0; i < 100; ++i) schema.section("s" + std::to_string(i));
  Section& again = schema.section("data", "samples");
  EXPECT_EQ(&first, &again);
  EXPECT_EQ(first.help(), "samples");
  schema.section("data", "other words");
  EXPECT_EQ(first.help(), "samples") << "the first help stays";
}

TEST(ConfigSchema, FindsByName) {
  Schema schema;
  schema.section("run");
  schema.section("");
  EXPECT_NE(schema.find("run"), nullptr);
  EXPECT_NE(schema.find(""), nullptr);
  EXPECT_EQ(schema.find("absent"), nullptr);
}

TEST(ConfigSchema, NamesMustBeWordsWithDots) {
  Schema schema;
  for (const char* name : {".", "a.", ".a", "a..b", "A", "a b"}) {
    EXPECT_THROW(schema.section(name), Error) << name;
  }
}

}  // namespace
}  // namespace trireme::config
