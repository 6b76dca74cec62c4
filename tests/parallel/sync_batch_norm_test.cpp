// Goal:   if ranks have different numbers of samples, outputs, gradients and running statistics are
//         those of torch::nn::BatchNorm over all samples on one rank.
// Method: float64, three ranks as threads with 1, 4 and 2 of seven images; within 1e-10, because
//         sums have another order.

#include "trireme/parallel/sync_batch_norm.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

constexpr double kSameSum = 1e-10;
constexpr std::int64_t kImages[] = {1, 4, 2};

at::Tensor normal(at::IntArrayRef sizes, std::uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  return torch::randn(sizes, generator, torch::kDouble) * 3 + 5;
}

// A loss in which every element has a different weight.
at::Tensor weighted(const at::Tensor& out, std::int64_t first) {
  const at::Tensor factors = normal({7, 3, 2, 2}, 11).narrow(0, first, out.size(0));
  return (out * factors.reshape(out.sizes())).square().sum();
}

void expect_near(const at::Tensor& found, const at::Tensor& wanted, const char* what) {
  ASSERT_EQ(found.sizes(), wanted.sizes()) << what;
  EXPECT_LT((found - wanted).abs().max().item<double>(), kSameSum) << what;
}

TEST(SyncBatchNorm, EqualsBatchNormOnOneRank) {
  const at::Tensor images = normal({7, 3, 2, 2}, 3);
  torch::nn::BatchNorm2d whole(torch::nn::BatchNorm2dOptions(3));
  whole->to(torch::kDouble);
  const at::Tensor all = images.clone().requires_grad_();
  at::Tensor wanted;
  for (int pass = 0; pass < 2; ++pass) wanted = whole->forward(all);
  weighted(wanted, 0).backward();

  const std::vector<comm::Group> groups = comm::connect_threads(3);
  std::vector<at::Tensor> weight_gradients(3), bias_gradients(3);
  testing::run_rank_threads(3, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    std::int64_t first = 0;
    for (std::size_t before = 0; before < r; ++before) first += kImages[before];
    SyncBatchNorm norm(groups[r], {.features = 3});
    norm.to(torch::kDouble);
    const at::Tensor mine = images.narrow(0, first, kImages[r]).clone().requires_grad_();
    at::Tensor out;
    for (int pass = 0; pass < 2; ++pass) out = norm.forward(mine);
    expect_near(out, wanted.narrow(0, first, kImages[r]), "output");
    weighted(out, first).backward();
    expect_near(mine.grad(), all.grad().narrow(0, first, kImages[r]), "gradient of the input");
    weight_gradients[r] = norm.weight.grad();
    bias_gradients[r] = norm.bias.grad();
    expect_near(norm.running_mean, whole->running_mean, "running mean");
    expect_near(norm.running_var, whole->running_var, "running variance");
    EXPECT_EQ(norm.num_batches_tracked.item<std::int64_t>(), 2);
    norm.eval();
    const at::Tensor before = norm.forward(mine);
    expect_near(before,
                torch::batch_norm(mine, norm.weight, norm.bias, norm.running_mean, norm.running_var,
                                  false, 0.1, 1e-5, false),
                "evaluation");
  });
  expect_near(weight_gradients[0] + weight_gradients[1] + weight_gradients[2], whole->weight.grad(),
              "gradient of the weight");
  expect_near(bias_gradients[0] + bias_gradients[1] + bias_gradients[2], whole->bias.grad(),
              "gradient of the bias");
}

TEST(SyncBatchNorm, AcceptsFloat16Inputs) {
  SyncBatchNorm norm(comm::Group::solo(), {.features = 3});
  const at::Tensor images = normal({64, 3, 40, 40}, 3).to(torch::kFloat);
  const at::Tensor half = norm.forward(images.to(torch::kHalf));
  EXPECT_EQ(half.scalar_type(), torch::kHalf);
  // There are more samples than float16 can represent.
  EXPECT_TRUE(torch::allclose(half.to(torch::kFloat), norm.forward(images), 1e-2, 1e-2));
}

TEST(SyncBatchNorm, HasTheNamesOfTorchAndRejectsWrongInputs) {
  const SyncBatchNorm ours(comm::Group::solo(), {.features = 3});
  const torch::nn::BatchNorm2d torchs(torch::nn::BatchNorm2dOptions(3));
  EXPECT_EQ(ours.named_parameters().keys(), torchs->named_parameters().keys());
  EXPECT_EQ(ours.named_buffers().keys(), torchs->named_buffers().keys());
  SyncBatchNorm norm(comm::Group::solo(), {.features = 3});
  EXPECT_THROW(norm.forward(torch::ones({2, 4})), Error);
  EXPECT_THROW(norm.forward(torch::ones({3})), Error);
}

TEST(SumOverRanks, GradientReachesTheTensorOfEveryRank) {
  const std::vector<comm::Group> groups = comm::connect_threads(3);
  testing::run_rank_threads(3, [&](int rank) {
    const at::Tensor share = torch::full({2}, rank + 1.0, torch::kDouble).requires_grad_();
    const at::Tensor sum = sum_over_ranks(share, groups[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(sum[0].item<double>(), 6);
    (sum * (rank + 1)).sum().backward();
    EXPECT_EQ(share.grad()[1].item<double>(), 6);
    // The second derivative of the squared sum is summed over ranks, too.
    const at::Tensor again = sum_over_ranks(share, groups[static_cast<std::size_t>(rank)]);
    const at::Tensor first =
        torch::autograd::grad({again.square().sum()}, {share}, {}, true, true)[0];
    const at::Tensor second = torch::autograd::grad({first.sum()}, {share})[0];
    EXPECT_EQ(second[0].item<double>(), 18);
  });
}

}  // namespace
}  // namespace trireme::parallel
