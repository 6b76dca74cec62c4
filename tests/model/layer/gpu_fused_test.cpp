// Goal:   layers that a GPU computes in one kernel in bfloat16 agree with torch's operations in
//         float64, forward and backward, at awkward sizes, and give the same bits in each run.
// Method: random bfloat16 inputs; the difference is at most 1 % of the greatest expected value
//         (bfloat16 has 0.4 %), 0.1 % for sums in float32. Skipped without a GPU or its kernels.

#include "trireme/model/layer/fused.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/layer/kernel/fused.h"
#include "trireme/model/layer/norm.h"
#include "trireme/model/loss/cross_entropy.h"

namespace trireme::model {
namespace {

constexpr double kHalfSlack = 1e-2;
constexpr double kSumSlack = 1e-3;

class GpuFused : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() == 0) GTEST_SKIP() << "this machine or this PyTorch has no GPU";
    if (!kernel::has_fused()) GTEST_SKIP() << "this build has no CUDA kernels";
    torch::manual_seed(1);
    precision_.emplace(at::kCUDA, at::kBFloat16);
  }
  void TearDown() override { precision_.reset(); }

  std::optional<Autocast> precision_;
};

at::Tensor random_on_gpu(at::IntArrayRef sizes, at::ScalarType type = at::kBFloat16) {
  return torch::randn(sizes).to(type).cuda();
}

at::Tensor new_leaf(const at::Tensor& x) {
  return x.detach().clone().requires_grad_();
}

at::Tensor double_leaf(const at::Tensor& x) {
  return x.detach().to(at::kDouble).requires_grad_();
}

void expect_close_to(const at::Tensor& got, const at::Tensor& expected, double tolerance,
                     const std::string& what) {
  ASSERT_TRUE(got.defined() && expected.defined()) << what;
  ASSERT_EQ(got.sizes(), expected.sizes()) << what;
  const double off = (got.to(at::kDouble) - expected).abs().max().item<double>();
  const double greatest = expected.abs().max().item<double>();
  EXPECT_LE(off, tolerance * std::max(greatest, 1e-3)) << what;
}

std::string text_of_sizes(at::IntArrayRef sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

TEST_F(GpuFused, SplitNormIsLayerNormAndAddsTheResidualsGradient) {
  const std::vector<std::vector<std::int64_t>> all{
      {1, 8},      {7, 16},     {3, 5, 768}, {257, 1024}, {2113, 1032}, {31, 1600},
      {70001, 64}, {4231, 768}, {5, 2056},   {11, 4096},  {3, 8192}};
  for (const std::vector<std::int64_t>& sizes : all) {
    for (const bool has_bias : {true, false}) {
      SCOPED_TRACE(text_of_sizes(sizes) + (has_bias ? ", bias" : ""));
      Norm norm({.width = sizes.back(), .has_bias = has_bias});
      norm.to(at::kCUDA);
      const c10::NoGradGuard no_grad;
      norm.weight.copy_(random_on_gpu({sizes.back()}));
      if (has_bias) norm.bias.copy_(random_on_gpu({sizes.back()}));
      const at::Tensor x = random_on_gpu(sizes) + 0.5, of_x = random_on_gpu(sizes),
                       of_y = random_on_gpu(sizes);
      const auto run = [&] {
        const c10::AutoGradMode grad(true);
        const at::Tensor in = new_leaf(x);
        norm.zero_grad();
        const auto [stream, y] = norm.split(in, {});
        EXPECT_EQ(y.scalar_type(), at::kBFloat16);
        torch::autograd::backward({stream, y}, {of_x, of_y});
        return std::vector<at::Tensor>{y.detach(), in.grad(), norm.weight.grad().clone(),
                                       has_bias ? norm.bias.grad().clone() : at::Tensor()};
      };
      const std::vector<at::Tensor> got = run(), again = run();
      const c10::AutoGradMode grad(true);
      const Autocast off(at::kCUDA, at::kFloat);
      const at::Tensor in = double_leaf(x), weight = double_leaf(norm.weight);
      const at::Tensor bias = has_bias ? double_leaf(norm.bias) : at::Tensor();
      const at::Tensor y = at::layer_norm(in, {sizes.back()}, weight, bias, norm.epsilon);
      torch::autograd::backward({in * 1, y}, {of_x.to(at::kDouble), of_y.to(at::kDouble)});
      expect_close_to(got[0], y.detach(), kHalfSlack, "output");
      expect_close_to(got[1], in.grad(), kHalfSlack, "gradient of the input");
      expect_close_to(got[2], weight.grad(), kSumSlack, "gradient of the weight");
      if (has_bias) expect_close_to(got[3], bias.grad(), kSumSlack, "gradient of the bias");
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_TRUE(!got[i].defined() || got[i].equal(again[i])) << "result " << i;
      }
    }
  }
}

TEST_F(GpuFused, BiasGeluAndItsGradientsAreTorchs) {
  const std::vector<std::vector<std::int64_t>> all{
      {1, 8}, {13, 264}, {65537, 16}, {3, 7, 3072}, {1031, 776}};
  for (const std::vector<std::int64_t>& sizes : all) {
    SCOPED_TRACE(text_of_sizes(sizes));
    const at::Tensor x = new_leaf(2 * random_on_gpu(sizes)),
                     bias = new_leaf(random_on_gpu({sizes.back()}, at::kFloat));
    const at::Tensor of_y = random_on_gpu(sizes);
    const at::Tensor y = bias_gelu(x, bias);
    torch::autograd::backward({y}, {of_y});
    const at::Tensor wide = double_leaf(x), wide_bias = double_leaf(bias);
    const at::Tensor expected = at::gelu(wide + wide_bias, "tanh");
    torch::autograd::backward({expected}, {of_y.to(at::kDouble)});
    expect_close_to(y.detach(), expected.detach(), kHalfSlack, "output");
    expect_close_to(x.grad(), wide.grad(), kHalfSlack, "gradient of the input");
    expect_close_to(bias.grad(), wide_bias.grad(), kSumSlack, "gradient of the bias");
  }
}

TEST_F(GpuFused, SumOfRowsIsTheSumInDoublePrecision) {
  const std::vector<std::vector<std::int64_t>> all{{1, 8},       {7, 9},      {997, 2304},
                                                   {65537, 264}, {100003, 8}, {64, 50304}};
  for (const std::vector<std::int64_t>& sizes : all) {
    const at::Tensor x = random_on_gpu(sizes);
    const c10::NoGradGuard no_grad;
    const at::Tensor sum = sum_of_rows(x, at::kFloat);
    const double slack =
        sizes[1] % 8 == 0 ? kSumSlack : kHalfSlack;  // the latter: torch's, in bfloat16
    expect_close_to(sum, x.to(at::kDouble).sum(0), slack, text_of_sizes(sizes));
    EXPECT_TRUE(sum.equal(sum_of_rows(x, at::kFloat))) << text_of_sizes(sizes);
  }
}

TEST_F(GpuFused, SplitHeadsJoinsGradientsExactly) {
  for (const std::int64_t length : {1, 13, 70001}) {
    const at::Tensor all = new_leaf(random_on_gpu({2, length, 3 * 3 * 16}));
    const std::vector<at::Tensor> parts = split_heads(all, 16);
    ASSERT_EQ(parts.size(), 3U);
    const at::Tensor of_all = random_on_gpu({2, length, 3 * 3 * 16});
    const auto expected = of_all.view({2, length, 3, 3, 16}).permute({2, 0, 3, 1, 4}).unbind(0);
    const auto values = all.detach().view({2, length, 3, 3, 16}).permute({2, 0, 3, 1, 4});
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(parts[i].equal(values[static_cast<std::int64_t>(i)]));
    }
    torch::autograd::backward({parts[0], parts[1], parts[2]},
                              {expected[0], expected[1].contiguous(), expected[2]});
    EXPECT_TRUE(all.grad().equal(of_all)) << length;
  }
}

TEST_F(GpuFused, CrossEntropyOf16BitLogitsIsTorchsAndIgnoresTargets) {
  const std::vector<std::vector<std::int64_t>> all{
      {1, 1}, {5, 2}, {70001, 7}, {257, 50257}, {128, 50304}, {31, 1000}, {3, 15}};
  for (const std::vector<std::int64_t>& sizes : all) {
    SCOPED_TRACE(text_of_sizes(sizes));
    const at::Tensor logits = new_leaf(4 * random_on_gpu(sizes));
    at::Tensor target = torch::randint(sizes[1], {sizes[0]}).cuda();
    if (sizes[0] > 2) target[1] = -1;
    const CrossEntropy layer({.ignored = -1});
    const at::Tensor loss = layer.sum(logits, target);
    EXPECT_EQ(loss.scalar_type(), at::kFloat);
    (loss * 0.25).backward();
    const at::Tensor wide = double_leaf(logits);
    const at::Tensor expected = at::cross_entropy_loss(wide, target, {}, at::Reduction::Sum, -1);
    (expected * 0.25).backward();
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(),
                1e-5 * std::abs(expected.item<double>()) + 1e-5);
    expect_close_to(logits.grad(), wide.grad(), kHalfSlack, "gradient");
  }
}

TEST_F(GpuFused, ATargetThatIsNoClassIsNotANumber) {
  const at::Tensor target = torch::tensor({0, 9}).cuda();
  EXPECT_TRUE(std::isnan(fused_cross_entropy(random_on_gpu({2, 9}), target, -100).item<double>()));
}

TEST_F(GpuFused, GradientsOfGradientsAreRefused) {
  const at::Tensor x = new_leaf(random_on_gpu({2, 8})),
                   bias = new_leaf(random_on_gpu({8}, at::kFloat));
  const at::Tensor sum = bias_gelu(x, bias).sum();
  EXPECT_THROW(torch::autograd::grad({sum}, {x}, {}, true, /*create_graph=*/true), Error);
}

TEST(Fused, LayersOnTheCpuAreTorchs) {
  const at::Tensor x = torch::randn({2, 8});
  EXPECT_FALSE(is_fused(x));
  EXPECT_TRUE(as_residual_stream(x).is_same(x));
  const Norm norm({.width = 8});
  EXPECT_TRUE(norm.split(x, {}).first.is_same(x));
  EXPECT_TRUE(sum_of_rows(x, at::kFloat).equal(x.sum(0)));
}

}  // namespace
}  // namespace trireme::model
