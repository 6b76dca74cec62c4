// Goal:   the network for spoken words matches its paper, in values and gradients, and reports data
//         that it does not support.
// Method: torch's convolutions, batch norm and linear layer written out, in float64; results
//         computed by hand.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/model/make_model.h"
#include "trireme/base/error.h"

namespace trireme::model {
namespace {

data::Form sounds(std::int64_t bands, std::int64_t times) {
  data::Form form;
  form.input_sizes = {1, bands, times};
  form.classes = 12;
  return form;
}

TEST(AudioModel, IsTorchsArithmetic) {
  const auto made = make_model("audio", {"channels=5", "num_layers=2"}, sounds(9, 21));
  Model& model = *made;
  initialize(model, 3);
  model.to(at::kDouble);
  torch::manual_seed(1);
  const at::Tensor x = torch::randn({3, 1, 9, 21}, at::kDouble);
  const at::Tensor ours = model.forward(x, {.is_training = true});
  const auto all = model.named_parameters();
  std::vector<at::Tensor> weights;
  for (const auto& item : all) weights.push_back(item.value());
  const auto normed = [&](const at::Tensor& y, const std::string& name) {
    return torch::batch_norm(y, all[name + ".weight"], all[name + ".bias"], {}, {}, true, 0.1, 1e-5,
                             false)
        .relu();
  };
  at::Tensor y = normed(torch::conv2d(x, all["stem.conv.weight"], {}, 2, {1, 4}), "stem.norm");
  EXPECT_EQ(y.sizes(), (std::vector<std::int64_t>{3, 5, 4, 10}));
  for (const std::string layer : {"layers.0.", "layers.1."}) {
    y = normed(torch::conv2d(y, all[layer + "within.weight"], {}, 1, 1, 1, 5), layer + "norm1");
    y = normed(torch::conv2d(y, all[layer + "across.weight"]), layer + "norm2");
  }
  const at::Tensor theirs =
      torch::linear(y.mean({2, 3}), all["head.fc.weight"], all["head.fc.bias"]);
  EXPECT_TRUE(ours.allclose(theirs, 1e-10, 1e-12));
  const auto slopes = torch::autograd::grad({ours.square().sum()}, weights);
  const auto others = torch::autograd::grad({theirs.square().sum()}, weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_TRUE(slopes[i].allclose(others[i], 1e-8, 1e-10)) << all.keys()[i];
  }
}

TEST(AudioModel, HasItsPublishedSize) {
  // 64 x 40 + 4 x (64 x 9 + 64 x 64) + 12 x 64 + 12, and two numbers for each channel of nine
  // norms.
  const auto model = make_model("audio", {}, sounds(40, 98));
  EXPECT_EQ(parameter_count(*model), 23180);
  EXPECT_GT(model->flops_a_sample(sounds(40, 98)), 1e6);
}

TEST(AudioModel, RefusesWhatIsTooShort) {
  EXPECT_THROW(make_model("audio", {}, sounds(40, 9)), Error);
  EXPECT_THROW(make_model("audio", {}, sounds(3, 98)), Error);
  data::Form numbers;
  numbers.input_sizes = {4};
  EXPECT_THROW(make_model("audio", {}, numbers), Error);
}

}  // namespace
}  // namespace trireme::model
