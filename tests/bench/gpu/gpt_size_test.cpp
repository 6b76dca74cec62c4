// Goal:   sizes have the parameters of GPT-2, and their operations and first loss are those that
//         follow by hand.
// Method: the numbers of the smallest model.

#include "bench/gpu/gpt_size.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::bench::gpu {
namespace {

TEST(GptSize, CountsTheOperationsOfMatrixProducts) {
  const GptSize& small = gpt_named("124m");
  // 6 per weight; 6 * 12 layers * 768 per token that attention sees.
  const double weights = 12.0 * 12 * 768 * 768 + 50304.0 * 768;
  EXPECT_DOUBLE_EQ(small.flops_per_token(1024), 6 * weights + 6.0 * 12 * 768 * 1024);
  EXPECT_NEAR(small.flops_per_token(1024), 798e6, 1e6);
}

TEST(GptSize, TheFirstLossIsThatOfEquallyLikelyTokens) {
  EXPECT_NEAR(gpt_named("124m").first_loss(), 10.979, 0.001);
}

TEST(GptSize, EveryNameHasASizeWhoseHeadsDivideIt) {
  for (const std::string& name : gpt_names()) {
    const GptSize& size = gpt_named(name);
    EXPECT_EQ(size.name, name);
    EXPECT_EQ(size.width % size.heads, 0) << name;
    EXPECT_GT(size.batch, 0) << name;
  }
  EXPECT_THROW(gpt_named("125m"), Error);
}

}  // namespace
}  // namespace trireme::bench::gpu
