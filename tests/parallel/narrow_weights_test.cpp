// Goal:   narrow copies have the values of their parameters, whenever these change.
// Method: parameters on the CPU, whose copies are compared with conversions by torch, bit for bit.

#include "trireme/parallel/narrow_weights.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace trireme::parallel {
namespace {

std::vector<Parameter> new_parameters() {
  std::vector<Parameter> all(3);
  all[0].tensor = torch::randn({3, 5}).requires_grad_();
  all[1].tensor = torch::randn({7}).requires_grad_();
  all[2].tensor = torch::randn({4}, at::kDouble).requires_grad_();
  return all;
}

TEST(NarrowWeights, CopiesFollowTheirParametersAfterTheyExpire) {
  const std::vector<Parameter> all = new_parameters();
  NarrowWeights copies(all, at::kBFloat16);
  const auto expect_equal = [&](const at::Tensor& parameter, const char* when) {
    const at::Tensor copy = copies.copy_of(parameter);
    ASSERT_TRUE(copy.defined()) << when;
    EXPECT_FALSE(copy.requires_grad()) << when;
    EXPECT_TRUE(copy.equal(parameter.detach().to(at::kBFloat16))) << when;
  };
  expect_equal(all[0].tensor, "first");
  for (const char* when : {"the second is new", "both are known"}) {
    all[0].tensor.detach().add_(1);
    all[1].tensor.detach().mul_(2);
    copies.expire();
    expect_equal(all[0].tensor, when);
    expect_equal(all[1].tensor, when);
  }
}

TEST(NarrowWeights, ACopyStaysUntilItExpires) {
  const std::vector<Parameter> all = new_parameters();
  NarrowWeights copies(all, at::kBFloat16);
  const at::Tensor before = copies.copy_of(all[0].tensor).clone();
  all[0].tensor.detach().add_(1);
  EXPECT_TRUE(copies.copy_of(all[0].tensor).equal(before));
}

TEST(NarrowWeights, OtherTypesAndTensorsHaveNone) {
  const std::vector<Parameter> all = new_parameters();
  const NarrowWeights copies(all, at::kBFloat16);
  EXPECT_FALSE(copies.copy_of(all[2].tensor).defined());
  EXPECT_FALSE(copies.copy_of(torch::randn({3, 5})).defined());
}

}  // namespace
}  // namespace trireme::parallel
