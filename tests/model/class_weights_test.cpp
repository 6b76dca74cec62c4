// Goal:   class weights apply, the focal loss reduces the weight of easy samples, and targets may
//         be class probabilities.
// Method: compared with PyTorch's own function, and with the focal loss written out from its paper.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/model/loss/loss.h"

namespace trireme::model {
namespace {

namespace F = torch::nn::functional;

const std::vector<double> kWeights{0.5, 2, 1, 3};

class ClassWeights : public ::testing::Test {
 protected:
  at::Tensor weights() const { return torch::tensor(kWeights, torch::kDouble); }

  at::Tensor logits_ = torch::tensor({{2.0, -1.0, 0.3, 0.1},
                                      {-0.7, 1.9, 0.0, 0.4},
                                      {0.2, 0.1, -3.0, 5.0},
                                      {1.0, 1.0, 1.0, 1.0},
                                      {30.0, 0.0, 0.0, 0.0}},
                                     torch::kDouble)
                           .set_requires_grad(true);
  at::Tensor target_ = torch::tensor({0, 1, 2, 3, 0}, torch::kLong);
};

TEST_F(ClassWeights, MultiplyTheirSamples) {
  const auto options = F::CrossEntropyFuncOptions().reduction(torch::kSum).weight(weights());
  const at::Tensor wanted = F::cross_entropy(logits_, target_, options);
  const auto loss = cross_entropy({.class_weights = kWeights});
  EXPECT_TRUE(loss->sum(logits_, target_).allclose(wanted));
  EXPECT_EQ(loss->terms(target_), 5);
  // More outputs than classes: no target uses them.
  const at::Tensor wider = torch::cat({logits_, torch::zeros({5, 2}, torch::kDouble)}, 1);
  EXPECT_TRUE(std::isfinite(loss->sum(wider, target_).item<double>()));
  EXPECT_THROW(loss->sum(logits_.slice(1, 0, 3), target_.clamp_max(2)), std::exception);
}

TEST_F(ClassWeights, AndFocusMultiply) {
  const at::Tensor p = logits_.softmax(1).gather(1, target_.unsqueeze(1)).squeeze(1);
  const at::Tensor wanted =
      (weights().index_select(0, target_) * (1 - p).pow(1.5) * -p.log()).sum();
  const at::Tensor got =
      cross_entropy({.class_weights = kWeights, .focus = 1.5})->sum(logits_, target_);
  EXPECT_TRUE(got.allclose(wanted, 1e-9, 1e-9));
  const auto gradient_of = [&](const at::Tensor& of) {
    return torch::autograd::grad({of}, {logits_}, {}, true)[0];
  };
  EXPECT_TRUE(gradient_of(got).allclose(gradient_of(wanted), 1e-6, 1e-9));
  // If the model is completely certain, nothing is infinite.
  const at::Tensor sure = torch::tensor({{200.0, 0.0}}).set_requires_grad(true);
  cross_entropy({.focus = 0.5})->sum(sure, torch::zeros({1}, torch::kLong)).backward();
  EXPECT_TRUE(sure.grad().isfinite().all().item<bool>());
}

TEST_F(ClassWeights, TakeSharesOfClasses) {
  const at::Tensor shares = torch::tensor({{1.0, 0.0, 0.0, 0.0},
                                           {0.3, 0.7, 0.0, 0.0},
                                           {0.0, 0.0, 0.5, 0.5},
                                           {0.25, 0.25, 0.25, 0.25},
                                           {0.0, 0.0, 0.0, 1.0}},
                                          torch::kFloat);
  const at::Tensor wanted = -(shares.to(torch::kDouble) * logits_.log_softmax(1)).sum();
  EXPECT_TRUE(cross_entropy()->sum(logits_, shares).allclose(wanted));
  EXPECT_EQ(cross_entropy()->terms(shares), 5);
  EXPECT_THROW(cross_entropy({.focus = 1})->sum(logits_, shares), std::exception);
}

}  // namespace
}  // namespace trireme::model
