// Goal:   keys are split at their dots, and only there.
// Method: keys with and without quotation marks, escapes and empty components.

#include "trireme/base/config/dotted_key.h"

#include <gtest/gtest.h>

namespace trireme::config {
namespace {

using Names = std::vector<std::string>;

TEST(DottedKey, TablesAreOutermostFirst) {
  EXPECT_EQ(tables_of("a"), Names{});
  EXPECT_EQ(tables_of(""), Names{});
  EXPECT_EQ(tables_of("a.b.c"), (Names{"a", "a.b"}));
  EXPECT_EQ(tables_of("a..b"), (Names{"a", "a."}));
}

TEST(DottedKey, DotsInQuotationMarksDoNotSeparate) {
  EXPECT_EQ(tables_of("\"a.b\".c"), Names{"\"a.b\""});
  EXPECT_EQ(tables_of("a.\"b\\\".c\""), Names{"a"});
  EXPECT_EQ(leaf_of("a.\"b.c\""), "\"b.c\"");
}

TEST(DottedKey, HasAParentAndALeaf) {
  EXPECT_EQ(parent_of("a.b.c"), "a.b");
  EXPECT_EQ(leaf_of("a.b.c"), "c");
  EXPECT_EQ(parent_of("a"), "");
  EXPECT_EQ(leaf_of("a"), "a");
  EXPECT_EQ(leaf_of("a."), "");
}

}  // namespace
}  // namespace trireme::config
