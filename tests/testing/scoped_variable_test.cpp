// Goal:   a variable has its previous value when the scope ends.
// Method: set, removed and nested variables.

#include "trireme/testing/scoped_variable.h"

#include <gtest/gtest.h>

namespace trireme::testing {
namespace {

TEST(ScopedVariable, ComesBackAsItWas) {
  constexpr const char* kName = "TRIREME_SCOPED_VARIABLE_TEST";
  {
    ScopedVariable outer(kName, "a");
    EXPECT_STREQ(std::getenv(kName), "a");
    {
      ScopedVariable inner(kName, std::nullopt);
      EXPECT_EQ(std::getenv(kName), nullptr);
      inner.set("b");
      EXPECT_STREQ(std::getenv(kName), "b");
    }
    EXPECT_STREQ(std::getenv(kName), "a");
  }
  EXPECT_EQ(std::getenv(kName), nullptr);
}

}  // namespace
}  // namespace trireme::testing
