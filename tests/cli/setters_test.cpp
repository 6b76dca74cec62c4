// Goal:   valid values of an option are set; others are rejected with a description of the valid
//         ones.
// Method: setters at the limits of their ranges.

#include "trireme/cli/setters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

using ::testing::HasSubstr;

TEST(Setters, NamesAreAcceptedOrASuggestionIsMade) {
  std::string target = "before";
  const Setter set = one_of("--fruit", {"apple", "pear"}, target);
  EXPECT_EQ(set("pear"), "");
  EXPECT_EQ(target, "pear");
  EXPECT_THAT(set("aple"), HasSubstr("--fruit aple: use apple, pear; did you mean apple?"));
  EXPECT_THAT(set(""), HasSubstr("use apple, pear"));
  EXPECT_EQ(target, "pear");
}

TEST(Setters, NumbersStayInTheirRange) {
  int target = 7;
  const Setter set = number<int>("--n", {1, 10}, target);
  for (const char* wrong : {"0", "11", "-1", "", "3x", " 3", "99999999999999999999"}) {
    EXPECT_THAT(set(wrong), HasSubstr("a number from 1 to 10")) << wrong;
  }
  EXPECT_EQ(target, 7);
  EXPECT_EQ(set("1"), "");
  EXPECT_EQ(target, 1);
  EXPECT_EQ(set("10"), "");
  EXPECT_EQ(target, 10);
}

TEST(Setters, AnExceptionOfTheParserBecomesTheError) {
  std::string read;
  const Setter set = checked("--x", [&](const std::string& text) {
    if (text == "bad") throw Error(ErrorCode::InvalidInput, "no good");
    read = text;
  });
  EXPECT_EQ(set("bad"), "--x bad: no good");
  EXPECT_EQ(set("good"), "");
  EXPECT_EQ(read, "good");
}

}  // namespace
}  // namespace trireme::cli
