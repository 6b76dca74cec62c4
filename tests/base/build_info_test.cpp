// Goal:   the binary describes its build, so that ranks can detect different builds.
// Method: read the generated values; tests/install tests the hash itself.

#include "trireme/base/build_info.h"

#include <gtest/gtest.h>

namespace trireme::base {
namespace {

TEST(BuildInfo, NamesVersionCompilerAndTorch) {
  const BuildInfo& info = build_info();
  EXPECT_EQ(info.version.find('@'), std::string_view::npos);
  EXPECT_NE(info.version.find('.'), std::string_view::npos);
  EXPECT_NE(info.compiler.find(' '), std::string_view::npos);
  EXPECT_FALSE(info.torch.empty());
}

TEST(BuildInfo, IdIsSixteenHexadecimalDigits) {
  const std::string_view id = build_info().build_id;
  ASSERT_EQ(id.size(), 16u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string_view::npos) << id;
}

TEST(BuildInfo, EveryPartStatesWhetherItIsBuiltAndWhy) {
  for (const BuildPart& part : build_info().parts) {
    EXPECT_TRUE(part.state.starts_with("on: ") || part.state.starts_with("off: ")) << part.name;
    EXPECT_EQ(part.is_on(), part.state.starts_with("on: ")) << part.name;
  }
}

}  // namespace
}  // namespace trireme::base
