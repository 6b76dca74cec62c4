// Goal:   --grace accepts seconds and fractions of them, and nothing else.
// Method: a few texts.

#include "trireme/cli/grace_option.h"

#include <gtest/gtest.h>

#include <chrono>

namespace trireme::cli {
namespace {

using namespace std::chrono_literals;

TEST(GraceOption, AcceptsSeconds) {
  Duration grace = 5s;
  EXPECT_EQ(set_grace(grace, "590"), "");
  EXPECT_EQ(grace, Duration(590s));
  EXPECT_EQ(set_grace(grace, "0.5"), "");
  EXPECT_EQ(grace, Duration(500ms));
  for (const char* wrong : {"", "-1", "86401", "5s", "nan"}) {
    EXPECT_NE(set_grace(grace, wrong), "") << wrong;
  }
  EXPECT_EQ(grace, Duration(500ms));
}

}  // namespace
}  // namespace trireme::cli
