// Goal:   models are lists of blocks with the published names and counts, tied weights exist once,
//         and running blocks in parts, or recomputing them, changes no value and no gradient.
// Method: small models with philox weights; gradients are compared bitwise.

#include "trireme/model/block_model.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/model/activations.h"
#include "trireme/model/block.h"
#include "trireme/model/context.h"
#include "trireme/model/interruption.h"
#include "trireme/model/kind/cnn.h"
#include "trireme/model/kind/gpt.h"
#include "trireme/model/kind/mlp.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/layer/recompute.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/model.h"
#include "trireme/model/simple_blocks.h"
#include "trireme/model/wrap.h"

namespace trireme::model {
namespace {

data::Form images() {
  data::Form form;
  form.input_sizes = {1, 28, 28};
  form.classes = 10;
  return form;
}

data::Form texts(std::int64_t length, std::int64_t vocabulary) {
  data::Form form;
  form.input_sizes = {length};
  form.input_type = at::kLong;
  form.classes = vocabulary;
  return form;
}

GptConfig small_gpt() {
  return {.width = 16, .layers = 2, .heads = 2, .dropout = 0.2};
}

// A change to a layer, such as a new parameter of an adapter, must be visible in the model.
TEST(BlockModel, HasTheLayersOfItsBlocksAsModules) {
  const auto gpt = std::make_shared<Gpt>(small_gpt(), texts(8, 11));
  const auto c_fc = gpt->blocks()[2]->named_modules()["mlp.c_fc"];
  const auto modules = gpt->named_modules();
  EXPECT_EQ(modules["transformer.h.0.mlp.c_fc"].get(), c_fc.get());
  const std::size_t before = gpt->named_parameters().size();
  c_fc->register_parameter("more", torch::zeros({2}));
  EXPECT_TRUE(gpt->named_parameters().contains("transformer.h.0.mlp.c_fc.more"));
  EXPECT_EQ(gpt->named_parameters().size(), before + 1);
  EXPECT_FALSE(gpt->named_parameters().contains("lm_head.weight")) << "it is tied";
}

TEST(BlockModel, ADenseLayerIsALinearOneAndReluUnlessItIsTheLast) {
  const at::Tensor x = torch::rand({4, 3}) - 0.5;
  for (const bool is_last : {false, true}) {
    Dense dense({.inputs = 3, .outputs = 2, .is_last = is_last});
    const auto own = dense.named_parameters();
    EXPECT_EQ(own.keys(), (std::vector<std::string>{"weight", "bias"}));
    const torch::NoGradGuard no_grad;
    for (at::Tensor& each : dense.parameters()) each.copy_(torch::rand(each.sizes()) - 0.5);
    const at::Tensor sum = torch::linear(x, own["weight"], own["bias"]);
    EXPECT_TRUE(dense.forward(Activations(x), {}).main.equal(is_last ? sum : sum.relu()));
  }
  EXPECT_THROW(Dense({.inputs = 0}), Error);
}

struct Layered final : Block {
  Layered() { register_module("layer", std::make_shared<Linear>(Linear::Options{})); }
  Activations forward(Activations in, const Context&) override { return in; }
};

struct Colliding final : BlockModel {
  Colliding() {
    add("same", std::make_shared<Layered>());
    add("same", std::make_shared<Layered>());
  }
};

TEST(BlockModel, RefusesTwoLayersOfOneName) {
  EXPECT_THROW(Colliding(), Error);
}

TEST(BlockModel, CountsParametersAsPublished) {
  EXPECT_EQ(parameter_count(Cnn({}, images())), 1663370);
  EXPECT_EQ(parameter_count(Mlp({.widths = {2048, 2048, 2048}}, images())),
            784 * 2048 + 2048 + 2 * (2048 * 2048 + 2048) + 2048 * 10 + 10);
  const std::int64_t width = 16, length = 8, vocabulary = 11;
  EXPECT_EQ(
      parameter_count(Gpt(small_gpt(), texts(length, vocabulary))),
      vocabulary * width + length * width + 2 * (12 * width * width + 13 * width) + 2 * width);
  GptConfig untied = small_gpt();
  untied.tie_word_embeddings = false;
  EXPECT_EQ(parameter_count(Gpt(untied, texts(length, vocabulary))) -
                parameter_count(Gpt(small_gpt(), texts(length, vocabulary))),
            vocabulary * width);
}

TEST(BlockModel, NamesAreHuggingFaces) {
  const Gpt gpt(small_gpt(), texts(8, 11));
  const auto names = gpt.named_parameters().keys();
  const std::vector<std::string> wanted = {
      "transformer.wte.weight",          "transformer.wpe.weight",
      "transformer.h.0.ln_1.weight",     "transformer.h.0.attn.c_attn.weight",
      "transformer.h.1.mlp.c_proj.bias", "transformer.ln_f.weight"};
  for (const auto& name : wanted) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  // The tied head is not a separate parameter.
  EXPECT_EQ(std::find(names.begin(), names.end(), "lm_head.weight"), names.end());
  EXPECT_EQ(names.size(), 2u + 2u * 12u + 2u);
  EXPECT_TRUE(gpt.published("transformer.h.0.attn.c_attn.weight").is_transposed);
  EXPECT_FALSE(gpt.published("transformer.wte.weight").is_transposed);
  EXPECT_EQ(gpt.blocks().size(), 6u);
}

TEST(BlockModel, CountsOperations) {
  // Twice the weights per position and pass, three passes in total; the first layer computes no
  // gradient of its input.
  Mlp mlp({.widths = {7}}, images());
  EXPECT_EQ(mlp.flops_a_sample(images()), 2 * 2 * 784.0 * 7 + 3 * 2 * 7 * 10);
  for (at::Tensor& parameter : mlp.blocks()[0]->parameters()) parameter.set_requires_grad(false);
  EXPECT_EQ(mlp.flops_a_sample(images()), 2 * 784.0 * 7 + 2 * 2 * 7 * 10) << "a frozen layer";
  const double first = 2 * 25.0 * 32 * 784;
  const double second = 2 * 25.0 * 32 * 64 * 196;
  EXPECT_EQ(Cnn({}, images()).flops_a_sample(images()),
            2 * first + 3 * (second + 2 * (3136.0 * 512 + 512 * 10)));
  // Position t attends to t + 1 positions.
  const double layer = 2 * 12.0 * 16 * 16 * 8 + 4.0 * (8 * 9 / 2) * 16;
  EXPECT_EQ(Gpt(small_gpt(), texts(8, 11)).flops_a_sample(texts(8, 11)),
            3 * (2 * layer + 2 * 16.0 * 11 * 8));
}

std::vector<at::Tensor> gradients(Model& model, const at::Tensor& input, const at::Tensor& target) {
  model.zero_grad();
  const Context context{.is_training = true, .seed = 3, .step = 5};
  cross_entropy()->sum(model.forward(input, context), target).backward();
  std::vector<at::Tensor> all;
  for (const at::Tensor& parameter : model.parameters()) all.push_back(parameter.grad().clone());
  return all;
}

TEST(BlockModel, RecomputationChangesNothing) {
  torch::manual_seed(1);
  for (const bool is_cast : {false, true}) {
    Gpt gpt(small_gpt(), texts(8, 11));
    initialize(gpt, 1);
    const at::Tensor input = torch::randint(11, {3, 8}), target = torch::randint(11, {3, 8});
    at::autocast::set_autocast_enabled(at::kCPU, is_cast);
    const auto plain = gradients(gpt, input, target);
    gpt.set_recompute(true);
    const auto again = gradients(gpt, input, target);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_TRUE(plain[i].equal(again[i])) << gpt.named_parameters().keys()[i] << is_cast;
    }
  }
}

// Uses torch's own generator, passes on a second tensor and adds a loss.
class Noisy final : public Block {
 public:
  Noisy() { weight_ = register_parameter("weight", torch::ones({4})); }
  Activations forward(Activations in, const Context&) override {
    ++runs;
    const at::Tensor x = torch::dropout(in.main * weight_, 0.5, true);
    if (in.has("first")) in.main = in.main + in.get("first");
    in.set("first", x * 2);
    in.main = in.main + x;
    in.losses.push_back(x.sum() * 0.1);
    return in;
  }
  int runs = 0;

 private:
  at::Tensor weight_;
};

class NoisyModel final : public BlockModel {
 public:
  NoisyModel() {
    add("a", std::make_shared<Noisy>());
    add("b", std::make_shared<Noisy>());
  }
};

TEST(BlockModel, RecomputationRestoresTorchsGeneratorAndCarriesEverything) {
  std::vector<std::vector<at::Tensor>> all;
  at::Tensor after;
  for (const bool is_recomputed : {false, true}) {
    torch::manual_seed(2);
    NoisyModel model;
    model.set_recompute(is_recomputed);
    std::vector<at::Tensor> losses;
    const at::Tensor input = torch::linspace(-1, 1, 12).view({3, 4}).set_requires_grad(true);
    const Context context{.is_training = true, .losses = &losses};
    at::Tensor loss = model.forward(input, context).square().sum();
    ASSERT_EQ(losses.size(), 2u);
    for (const at::Tensor& other : losses) loss = loss + other;
    loss.backward();
    all.push_back({loss.detach(), input.grad(), model.parameters()[0].grad(),
                   model.parameters()[1].grad(), torch::rand({3})});
    EXPECT_EQ(static_cast<Noisy&>(*model.blocks()[0]).runs, is_recomputed ? 2 : 1);
  }
  for (std::size_t i = 0; i < all[0].size(); ++i) EXPECT_TRUE(all[0][i].equal(all[1][i])) << i;
}

TEST(BlockModel, PiecesOfTheListGiveTheWhole) {
  Gpt gpt(small_gpt(), texts(8, 11));
  initialize(gpt, 4);
  const at::Tensor input = torch::randint(11, {2, 8});
  const at::Tensor whole = gpt.forward(input, {});
  Activations half = gpt.forward_blocks(Activations(input), {}, 0, 3);
  EXPECT_TRUE(gpt.forward_blocks(half, {}, 3, 6).main.equal(whole));
  EXPECT_THROW(gpt.forward_blocks(half, {}, 3, 7), Error);
}

TEST(BlockModel, AnyModuleIsAModelButCannotBeRecomputed) {
  torch::manual_seed(3);
  torch::nn::Sequential net(torch::nn::Linear(4, 3), torch::nn::Dropout(0.5));
  const auto model = wrap(net);
  const at::Tensor input = torch::rand({2, 4});
  EXPECT_TRUE(model->forward(input, {}).equal(net->forward(input)));
  EXPECT_FALSE(net->is_training());
  EXPECT_EQ(model->named_parameters().keys(), (std::vector<std::string>{"0.weight", "0.bias"}));
  EXPECT_TRUE(model->blocks().empty());
  EXPECT_THROW(model->set_recompute(true), Error);
  model->set_recompute(false);
}

TEST(BlockModel, RefusesDataThatDoNotFit) {
  EXPECT_THROW(Cnn({}, texts(8, 11)), Error);
  EXPECT_THROW(Gpt({.context = 8}, data::Form{}), Error);
  EXPECT_THROW(Gpt({.vocabulary = 10}, texts(8, 11)), Error);
  Gpt gpt(small_gpt(), texts(8, 11));
  EXPECT_THROW(gpt.forward(torch::zeros({1, 9}, at::kLong), {}), Error);
}

// Lets this number of blocks pass.
class EndsAfter final : public Interruption {
 public:
  explicit EndsAfter(int blocks) : left_(blocks) {}
  void throw_if_pointless() const override {
    if (left_-- == 0) throw Error(ErrorCode::PeerLost, "enough");
  }
  int left() const { return left_; }

 private:
  mutable int left_;
};

TEST(BlockModel, AsksBetweenTwoBlocksWhetherToGoOn) {
  Gpt model(small_gpt(), texts(8, 11));
  const auto blocks = static_cast<int>(model.blocks().size());
  const at::Tensor input = torch::zeros({1, 8}, torch::kLong);
  const EndsAfter never(blocks);
  model.forward(input, {.interruption = &never});
  EXPECT_EQ(never.left(), 0);
  const EndsAfter last(blocks - 1);
  EXPECT_THROW(model.forward(input, {.interruption = &last}), Error);
}

}  // namespace
}  // namespace trireme::model
