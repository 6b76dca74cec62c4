// Goal:   several models' answers become one as each way promises; a stack is the likeliest one.
// Method: small tables by hand; the slope of what a stack makes small, by autograd.

#include "trireme/train/evaluate/ensemble.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

namespace trireme::train {
namespace {

at::Tensor logits_of(std::vector<std::vector<double>> shares) {
  at::Tensor all = at::empty({std::ssize(shares), std::ssize(shares[0])});
  for (std::size_t i = 0; i < shares.size(); ++i) {
    all[static_cast<std::int64_t>(i)].copy_(at::tensor(shares[i]));
  }
  // A constant that a softmax takes away again.
  return all.log() + 3;
}

TEST(EnsembleByAverage, IsTheMeanOfProbabilities) {
  const std::vector<at::Tensor> members{logits_of({{0.9, 0.1}}), logits_of({{0.2, 0.8}}),
                                        logits_of({{0.3, 0.7}})};
  const at::Tensor shares = average_classes(members).exp();
  EXPECT_NEAR(shares[0][0].item<double>(), 1.4 / 3, 1e-6);
  EXPECT_NEAR(shares[0][1].item<double>(), 1.6 / 3, 1e-6);
  const std::vector<at::Tensor> numbers{at::full({2, 1}, 1.0), at::full({2, 1}, 4.0)};
  EXPECT_TRUE(average_numbers(numbers).equal(at::full({2, 1}, 2.5)));
}

TEST(EnsembleByAverage, AClassThatNoMemberPredictsHasAFiniteLogit) {
  const at::Tensor sure = at::tensor({0.0f, 120.0f}).unsqueeze(0);
  const std::vector<at::Tensor> members{sure, sure};
  EXPECT_NEAR(average_classes(members)[0][0].item<double>(), -120, 1e-3);
  EXPECT_TRUE(vote(members).isfinite().all().item<bool>());
}

TEST(EnsembleByVote, IsTheMajority) {
  // Two of three are for the first class, though the mean is for the second.
  const std::vector<at::Tensor> members{logits_of({{0.51, 0.49}}), logits_of({{0.51, 0.49}}),
                                        logits_of({{0.01, 0.99}})};
  EXPECT_EQ(average_classes(members).argmax(-1).item<std::int64_t>(), 1);
  EXPECT_EQ(vote(members).argmax(-1).item<std::int64_t>(), 0);
  EXPECT_NEAR(vote(members).exp().sum().item<double>(), 1, 1e-6);
  const std::vector<at::Tensor> tied{logits_of({{0.6, 0.4}}), logits_of({{0.1, 0.9}})};
  EXPECT_EQ(vote(tied).argmax(-1).item<std::int64_t>(), 1) << "the surer one decides";
}

TEST(EnsembleByStack, IsTheLikeliest) {
  torch::manual_seed(5);
  const at::Tensor truth = at::randint(3, {200}, at::kLong);
  const at::Tensor hot = at::one_hot(truth, 3).to(at::kFloat);
  // One that knows, one that knows a little, one that guesses.
  const std::vector<at::Tensor> members{2 * hot + at::randn({200, 3}),
                                        0.5 * hot + at::randn({200, 3}), at::randn({200, 3})};
  const Stack stack = Stack::fit(members, truth);
  const std::vector<double> weights = stack.weights();
  EXPECT_GT(weights[0], weights[1]);
  EXPECT_GT(weights[0], 5 * std::abs(weights[2]));
  // If every member gives equal probabilities, the answer depends only on the offsets.
  const std::vector<at::Tensor> undecided(3, at::zeros({1, 3}));
  at::Tensor offsets = stack.answer(undecided).to(at::kDouble).squeeze(0);
  offsets = offsets - offsets.mean();
  at::Tensor theta = at::cat({at::tensor(weights, at::kDouble), offsets});
  theta = theta.detach().requires_grad_(true);
  at::Tensor logits = theta.narrow(0, 3, 3);
  at::Tensor pull = theta.narrow(0, 3, 3).square().sum();
  for (std::int64_t m = 0; m < 3; ++m) {
    const auto& member = members[static_cast<std::size_t>(m)];
    logits = logits + theta[m] * member.to(at::kDouble).log_softmax(-1);
    pull = pull + (theta[m] - 1.0 / 3).square();
  }
  const at::Tensor loss = at::nll_loss(logits.log_softmax(-1), truth, {}, at::Reduction::Sum);
  (loss + pull / 2).backward();
  EXPECT_LT(theta.grad().abs().max().item<double>(), 1e-3) << theta.grad();
}

TEST(EnsembleHalves, ShareTheSamplesOut) {
  for (const std::int64_t count : {0, 1, 7, 1000}) {
    std::vector<std::int64_t> all = half_of(count, SampleHalf::Fitted);
    const std::int64_t fitted = std::ssize(all);
    for (const std::int64_t sample : half_of(count, SampleHalf::Reported)) all.push_back(sample);
    std::sort(all.begin(), all.end());
    ASSERT_EQ(std::ssize(all), count);
    for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
    if (count == 1000) {
      EXPECT_NEAR(static_cast<double>(fitted), 500, 60);
    }
  }
}

}  // namespace
}  // namespace trireme::train
