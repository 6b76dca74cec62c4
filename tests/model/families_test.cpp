// Goal:   generating token by token equals processing the text at once; running statistics are
//         updated once per step; frequencies are scaled correctly; data of the wrong kind are
//         rejected.
// Method: small models with random weights; results computed by hand.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <numbers>

#include "tests/model/make_model.h"
#include "trireme/base/error.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/kind/autoencoder.h"
#include "trireme/model/kind/llama.h"
#include "trireme/model/layer/batch_norm.h"
#include "trireme/model/layer/key_value_cache.h"
#include "trireme/model/layer/rope.h"
#include "trireme/model/text_size.h"

namespace trireme::model {
namespace {

data::Form image_form(std::int64_t channels, std::int64_t side) {
  data::Form form;
  form.input_sizes = {channels, side, side};
  form.classes = 10;
  return form;
}

// Processes 1, 2 and 3 tokens at a time, with a cache of the previous ones.
void expect_same_in_pieces(Model& model) {
  initialize(model, 3);
  const torch::NoGradGuard no_grad;
  const at::Tensor tokens = torch::arange(6).remainder(5).unsqueeze(0);
  const at::Tensor whole = model.forward(tokens, {});
  KeyValueCache cache({.layers = 8, .capacity = 6});
  for (int round = 0; round < 2; ++round, cache.clear()) {
    std::vector<at::Tensor> parts;
    for (const auto& [begin, end] : {std::pair{0, 3}, {3, 4}, {4, 6}}) {
      parts.push_back(model.forward(tokens.slice(1, begin, end), {.cache = &cache}));
    }
    EXPECT_TRUE(torch::cat(parts, 1).allclose(whole, 1e-5, 1e-6));
  }
  // Later tokens do not influence earlier ones.
  EXPECT_TRUE(model.forward(tokens.slice(1, 0, 4), {}).allclose(whole.slice(1, 0, 4), 1e-5, 1e-6));
}

TEST(ModelFamilies, TextsGoOnTokenByToken) {
  Llama llama(
      {.vocabulary = 5, .context = 6, .width = 16, .layers = 2, .heads = 4, .num_kv_heads = 2}, {});
  expect_same_in_pieces(llama);
  expect_same_in_pieces(*make_model("lstm", {"vocab_size=5", "hidden_size=6", "num_layers=2"}, {}));
}

TEST(ModelFamilies, TiedHeadsAreCountedOnce) {
  const LlamaConfig shape{.vocabulary = 5, .context = 6, .width = 16, .layers = 1, .heads = 4};
  LlamaConfig tied = shape;
  tied.tie_word_embeddings = true;
  EXPECT_EQ(parameter_count(Llama(shape, {})) - parameter_count(Llama(tied, {})), 5 * 16);
  EXPECT_THROW(Llama(shape, {}).forward(torch::zeros({1, 7}, at::kLong), {}), Error);
  EXPECT_THROW(Llama(shape, image_form(1, 8)), Error);
}

TEST(ModelFamilies, ResnetsHaveTheirPublishedSizes) {
  const auto count = [](const std::string& depth, const data::Form& form) {
    return parameter_count(*make_model("resnet", {"depth=" + depth}, form));
  };
  EXPECT_EQ(parameter_count(*make_model("resnet", {}, image_form(1, 28))), 696042);
  // The count of torchvision's model, with a thousand classes.
  data::Form large = image_form(3, 224);
  large.classes = 1000;
  EXPECT_EQ(count("18", large), 11689512);
  EXPECT_EQ(count("34", large), 21797672);
  EXPECT_EQ(count("50", large), 25557032);
  EXPECT_THROW(count("19", image_form(1, 28)), Error);
  data::Form numbers;
  numbers.input_sizes = {4};
  EXPECT_THROW(make_model("resnet", {}, numbers), Error);
}

TEST(ModelFamilies, RunningMeansMoveOnceAStep) {
  for (const bool is_recomputed : {false, true}) {
    const auto made = make_model("resnet", {"base_channels=2"}, image_form(1, 6));
    Model& model = *made;
    initialize(model, 1);
    model.set_recompute(is_recomputed);
    const at::Tensor mean = model.named_buffers()["bn1.running_mean"];
    const at::Tensor x = torch::rand({4, 1, 6, 6});
    const at::Tensor weight = model.named_parameters()["conv1.weight"].detach();
    const at::Tensor wanted = 0.1 * torch::conv2d(x, weight, {}, 1, 1).mean({0, 2, 3});
    model.forward(x, {.is_training = true}).sum().backward();
    EXPECT_TRUE(mean.allclose(wanted, 1e-4, 1e-6)) << is_recomputed;
    {
      const torch::NoGradGuard no_grad;
      model.forward(x, {.is_training = true});
      model.forward(x, {});
    }
    EXPECT_TRUE(mean.allclose(wanted, 1e-4, 1e-6)) << is_recomputed;
  }
}

TEST(ModelFamilies, RotaryFrequenciesAreStretched) {
  const RopeOptions plain{.head_width = 4, .base = 100};
  EXPECT_EQ(rope_frequencies(plain), (std::vector<double>{1, 0.1}));
  RopeOptions linear = plain;
  linear.scaling = RopeScaling::Linear;
  linear.factor = 4;
  EXPECT_EQ(rope_frequencies(linear), (std::vector<double>{0.25, 0.025}));
  // Rotations in the original context: 10 and 1. The fast frequency is unchanged, the slow one is
  // scaled.
  RopeOptions llama = linear;
  llama.scaling = RopeScaling::Llama3;
  llama.original_context = 63;
  const std::vector<double> scaled = rope_frequencies(llama);
  EXPECT_EQ(scaled[0], 1);
  const double share = (63 * 0.1 / (2 * std::numbers::pi) - 1) / 3;
  EXPECT_NEAR(scaled[1], 0.1 * (share + (1 - share) / 4), 1e-12);
  llama.original_context = 31;
  EXPECT_NEAR(rope_frequencies(llama)[1], 0.025, 1e-15);
  EXPECT_THROW(rope_frequencies({.head_width = 3}), Error);
}

TEST(ModelFamilies, SamplesLongerThanTheContextAreRefused) {
  const data::Form form{
      .input_sizes = {128}, .input_type = at::kLong, .target_sizes = {128}, .classes = 5};
  try {
    text_size("gpt", {.vocabulary = 5, .context = 64}, form);
    ADD_FAILURE() << "a gpt has no positions for them";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "samples of 128 tokens (data.seq_len) are longer than model.max_seq_len = 64. Set "
              "data.seq_len=64 or less, or a larger model.max_seq_len");
  }
  EXPECT_EQ(text_size("gpt", {.context = 200}, form).context, 200);
  EXPECT_EQ(text_size("lstm", {.context = kAnyContext}, form).vocabulary, 5);
}

TEST(ModelFamilies, DataOfTheWrongKindAreRefused) {
  EXPECT_THROW(make_model("vit", {"patch_size=5"}, image_form(1, 28)), Error);
  EXPECT_THROW(make_model("linear", {}, image_form(1, 4)), Error);
  data::Form numbers;
  numbers.input_sizes = {4};
  numbers.target_sizes = {2};
  EXPECT_THROW(make_model("logistic", {}, numbers), Error);
  EXPECT_THROW(make_model("autoencoder", {}, image_form(1, 4)), Error);
  EXPECT_THROW(make_model("lstm", {}, numbers), Error);
}

}  // namespace
}  // namespace trireme::model
