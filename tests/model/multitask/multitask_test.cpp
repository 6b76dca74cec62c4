// Goal:   a model with several heads is trained on the weighted sum of its losses, also with
//         learned weights.
// Method: loss and gradients by formulas (softmax minus target, twice the difference, n - exp(-s)
//         L), in float64, without autograd.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/model/make_model.h"
#include "trireme/base/error.h"
#include "trireme/model/loss/multitask_loss.h"
#include "trireme/model/start.h"

namespace trireme::model {
namespace {

constexpr std::int64_t kCount = 5;

data::Form tasks_form() {
  return {.input_sizes = {4},
          .target_sizes = {3},
          .target_type = at::kFloat,
          .tasks = {{"class", 3}, {"group", 2}, {"mean", 0}}};
}

class MultitaskModel : public ::testing::Test {
 protected:
  void make(const std::vector<std::string>& settings) {
    model_ = make_model("multitask", settings, tasks_form());
    initialize(*model_, 3);
    model_->to(at::kDouble);
    torch::manual_seed(1);
    x_ = at::randn({kCount, 4}, at::kDouble);
    target_ = at::stack({at::tensor({0., 1., 2., 1., 0.}), at::tensor({1., 0., 0., 1., 1.}),
                         at::tensor({0.5, -1., 2., 0., 1.})},
                        1);
    loss_ = model_->own_loss()->sum(model_->forward(x_, {}), target_);
    loss_.backward();
  }
  at::Tensor weight(const std::string& name) const {
    return model_->named_parameters()[name].detach();
  }
  at::Tensor gradient(const std::string& name) const {
    return model_->named_parameters()[name].grad();
  }
  // The output of the trunk, computed explicitly.
  at::Tensor hidden() const {
    return (x_.matmul(weight("trunk.0.weight").t()) + weight("trunk.0.bias")).clamp_min(0);
  }
  at::Tensor said(const std::string& task) const {
    return hidden().matmul(weight("heads." + task + ".weight").t()) +
           weight("heads." + task + ".bias");
  }
  // The unweighted loss of a task: its value, and its gradient with respect to the head's output.
  std::pair<double, at::Tensor> by_hand(const std::string& task, std::int64_t index) const {
    const at::Tensor out = said(task), truth = target_.select(1, index);
    if (task == "mean") {
      const at::Tensor off = out.squeeze(1) - truth;
      return {(off * off).sum().item<double>(), 2 * off.unsqueeze(1)};
    }
    const at::Tensor share = out.exp() / out.exp().sum(1, true);
    const at::Tensor hot = at::one_hot(truth.to(at::kLong), out.size(1)).to(at::kDouble);
    return {-(hot * share.log()).sum().item<double>(), share - hot};
  }
  void expect_near(const at::Tensor& a, const at::Tensor& b, const std::string& what) const {
    EXPECT_LT((a - b).abs().max().item<double>(), 1e-10) << what;
  }

  std::shared_ptr<Model> model_;
  at::Tensor x_, target_, loss_;
};

TEST_F(MultitaskModel, LearnsByHandWeights) {
  const std::vector<double> weights{1, 0.5, 2};
  make({"hidden_sizes=[6]", "weights=[1, 0.5, 2]"});
  double sum = 0;
  at::Tensor into_trunk = at::zeros({kCount, 6}, at::kDouble);
  std::int64_t index = 0;
  for (const char* task : {"class", "group", "mean"}) {
    const double counts = weights[static_cast<std::size_t>(index)];
    const auto [value, slope] = by_hand(task, index++);
    sum += counts * value;
    expect_near(gradient(std::string("heads.") + task + ".weight"),
                counts * slope.t().matmul(hidden()), task);
    into_trunk += counts * slope.matmul(weight(std::string("heads.") + task + ".weight"));
  }
  EXPECT_NEAR(loss_.item<double>(), sum, 1e-10);
  expect_near(gradient("trunk.0.weight"), (into_trunk * hidden().gt(0)).t().matmul(x_), "trunk");
}

TEST_F(MultitaskModel, LearnsWhatEachTaskCounts) {
  make({"hidden_sizes=[6]", "weighting=uncertainty"});
  EXPECT_EQ(weight("heads.log_variance").abs().max().item<double>(), 0) << "at first all count 1";
  model_->zero_grad();
  const at::Tensor s = at::tensor({0.7, -0.4, 1.1});
  weight("heads.log_variance").copy_(s);
  loss_ = model_->own_loss()->sum(model_->forward(x_, {}), target_);
  loss_.backward();
  double sum = 0;
  std::int64_t index = 0;
  for (const char* task : {"class", "group", "mean"}) {
    const double unsure = weight("heads.log_variance")[index].item<double>();
    const auto [value, slope] = by_hand(task, index);
    sum += std::exp(-unsure) * value + static_cast<double>(kCount) * unsure;
    EXPECT_NEAR(gradient("heads.log_variance")[index].item<double>(),
                static_cast<double>(kCount) - std::exp(-unsure) * value, 1e-10);
    expect_near(gradient(std::string("heads.") + task + ".weight"),
                std::exp(-unsure) * slope.t().matmul(hidden()), task);
    ++index;
  }
  EXPECT_NEAR(loss_.item<double>(), sum, 1e-10);
}

TEST_F(MultitaskModel, SaysWhatDoesNotFit) {
  data::Form one = tasks_form();
  one.tasks.clear();
  const auto made = [](const std::string& setting, const data::Form& form) {
    return make_model("multitask", {setting, "kernel_size=3"}, form);
  };
  EXPECT_THROW(made("channels=[]", one), Error);
  EXPECT_THROW(made("weights=[1, 2]", tasks_form()), Error);
  EXPECT_THROW(made("channels=[4]", tasks_form()), Error) << "no images";
  data::Form image = tasks_form();
  image.input_sizes = {1, 8, 8};
  EXPECT_EQ(made("channels=[4]", image)->blocks().size(), 3U);
  EXPECT_THROW(made("channels=[4, 4, 4, 4]", image), Error);
}

}  // namespace
}  // namespace trireme::model
