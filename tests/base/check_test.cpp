// Goal:   a violated requirement is Misuse, with the expression, both values and the source
//         location.
// Method: checks that fail and checks that hold; arguments are evaluated once.

#include "trireme/base/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "trireme/base/error.h"

namespace trireme {
namespace {

std::string misuse_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Misuse);
    return error.message();
  }
  return "nothing was thrown";
}

TEST(Check, DoesNotThrowIfTheConditionHolds) {
  EXPECT_NO_THROW(TRIREME_CHECK(1 + 1 == 2));
  EXPECT_NO_THROW(TRIREME_CHECK(true, "never said"));
  EXPECT_NO_THROW(TRIREME_CHECK_EQ(2, 2));
}

TEST(Check, ReportsExpressionMessageAndLocation) {
  const int rank = 7;
  const int size = 4;
  const std::string text = misuse_of(
      [&] { TRIREME_CHECK(rank < size, "rank ", rank, " is outside a group of ", size); });
  EXPECT_THAT(text, ::testing::HasSubstr("rank < size"));
  EXPECT_THAT(text, ::testing::HasSubstr("rank 7 is outside a group of 4"));
  EXPECT_THAT(text, ::testing::ContainsRegex(" at check_test\\.cpp:[0-9]+$"));
}

TEST(Check, EqualityReportsBothValues) {
  const std::string text = misuse_of([] { TRIREME_CHECK_EQ(2 * 3, 7, "all_gather output"); });
  EXPECT_THAT(text, ::testing::HasSubstr("2 * 3 == 7"));
  EXPECT_THAT(text, ::testing::HasSubstr("all_gather output (6 against 7)"));
}

TEST(Check, NeedsNoMessage) {
  EXPECT_THAT(misuse_of([] { TRIREME_CHECK(false); }), ::testing::HasSubstr("check failed: false"));
  EXPECT_THAT(misuse_of([] { TRIREME_CHECK_EQ(1, 2); }), ::testing::HasSubstr("(1 against 2)"));
}

TEST(Check, EvaluatesItsArgumentsOnce) {
  int calls = 0;
  const auto count = [&] { return ++calls; };
  TRIREME_CHECK_EQ(count(), 1);
  TRIREME_CHECK(count() == 2);
  EXPECT_EQ(calls, 2);
}

TEST(Check, IsOneStatement) {
  const bool is_wanted = false;
  if (is_wanted)
    TRIREME_CHECK(false);
  else
    SUCCEED();
}

}  // namespace
}  // namespace trireme
