// Goal:   generating token by token equals processing the text at once; running statistics are
//         updated once per step; frequencies are scaled correctly; data of the wrong kind are
//         rejected.
// Method: small models with random weights; results computed by hand.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <numbers>

#include "trireme/base/error.h"
#include "trireme/model/autoencoder/autoencoder.h"
#include "trireme/model/autoencoder/autoencoder_config.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/batch_norm.h"
#include "trireme/model/layer/key_value_cache.h"
#include "trireme/model/layer/rope.h"
#include "trireme/model/linear_model/linear_model.h"
#include "trireme/model/linear_model/linear_model_config.h"
#include "trireme/model/llama/llama.h"
#include "trireme/model/llama/llama_blocks.h"
#include "trireme/model/llama/llama_config.h"
#include "trireme/model/lstm/lstm.h"
#include "trireme/model/lstm/lstm_config.h"
#include "trireme/model/resnet/resnet.h"
#include "trireme/model/resnet/resnet_blocks.h"
#include "trireme/model/resnet/resnet_config.h"
#include "trireme/model/text_size.h"
#include "trireme/model/vit/vit.h"
#include "trireme/model/vit/vit_config.h"

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
  Lstm lstm({.vocabulary = 5, .width = 6, .layers = 2}, {});
  expect_same_in_pieces(lstm);
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
  EXPECT_EQ(parameter_count(Resnet({}, image_form(1, 28))), 696042);
  // The count of torchvision's model, with a thousand classes.
  data::Form large = image_form(3, 224);
  large.classes = 1000;
  EXPECT_EQ(parameter_count(Resnet({.depth = 18}, large)), 11689512);
  EXPECT_EQ(parameter_count(Resnet({.depth = 34}, large)), 21797672);
  EXPECT_EQ(parameter_count(Resnet({.depth = 50}, large)), 25557032);
  EXPECT_THROW(Resnet({.depth = 19}, image_form(1, 28)), Error);
  data::Form numbers;
  numbers.input_sizes = {4};
  EXPECT_THROW(Resnet({}, numbers), Error);
}

TEST(ModelFamilies, RunningMeansMoveOnceAStep) {
  for (const bool is_recomputed : {false, true}) {
    Resnet model({.width = 2}, image_form(1, 6));
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
  EXPECT_THROW(Vit({.patch = 5}, image_form(1, 28)), Error);
  EXPECT_THROW(LinearModel(LinearModelConfig{}, image_form(1, 4)), Error);
  data::Form numbers;
  numbers.input_sizes = {4};
  numbers.target_sizes = {2};
  EXPECT_THROW(LinearModel(LogisticConfig{}, numbers), Error);
  EXPECT_THROW(Autoencoder(AutoencoderConfig{}, image_form(1, 4)), Error);
  EXPECT_THROW(Lstm(LstmConfig{}, numbers), Error);
}

}  // namespace
}  // namespace trireme::model
