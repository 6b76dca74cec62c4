// Goal:   layers equal those of LibTorch, adapters are applied in order and may replace the
//         computation, generation with a cache equals processing the whole text, and documents do
//         not attend to each other.
// Method: small layers compared with torch::nn::functional; adapters that multiply by known
// factors.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/model/kind/gpt.h"
#include "trireme/model/layer/adapter.h"
#include "trireme/model/layer/attention.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/key_value_cache.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/layer/norm.h"
#include "trireme/model/loss/cross_entropy.h"
#include "trireme/model/loss/loss.h"

namespace trireme::model {
namespace {

namespace F = torch::nn::functional;

// Multiplies the layer's result and remembers the order of the adapters.
template <class Layer>
struct Times final : Adapter<Layer> {
  Times(double by, std::vector<double>& order) : factor(by), seen(order) {}
  at::Tensor forward(const Layer&, const at::Tensor& x, const Context&,
                     const typename Adapter<Layer>::Next& next) override {
    seen.push_back(factor);
    return next(x) * factor;
  }

  double factor;
  std::vector<double>& seen;
};

template <class Layer>
void expect_adapted(Layer& layer, const at::Tensor& x) {
  const at::Tensor plain = layer.forward(x, {});
  std::vector<double> order;
  layer.adapters = {std::make_shared<Times<Layer>>(2, order),
                    std::make_shared<Times<Layer>>(-4, order)};
  EXPECT_TRUE(layer.forward(x, {}).equal(plain * -8));
  EXPECT_EQ(order, (std::vector<double>{2, -4})) << "the first one is the outermost";
  EXPECT_TRUE(layer.compute(x, {}).equal(plain));
}

TEST(ModelLayers, AdaptersAreAppliedInOrder) {
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  Linear linear({.inputs = 3, .outputs = 2});
  linear.weight.normal_();
  expect_adapted(linear, torch::rand({4, 3}));
  Embedding embedding({.rows = 3, .width = 2});
  embedding.weight.normal_();
  expect_adapted(embedding, torch::zeros({1}, at::kLong));
  Norm norm({.width = 3});
  expect_adapted(norm, torch::rand({3}));
}

// An adapter may replace the computation.
struct Ones final : Adapter<Linear> {
  at::Tensor forward(const Linear& layer, const at::Tensor& x, const Context&,
                     const Next&) override {
    return torch::ones({x.size(0), layer.weight.size(0)});
  }
};

struct Marker final : AttentionStrategy, CrossEntropyStrategy {
  at::Tensor attend(const at::Tensor& queries, const at::Tensor&, const at::Tensor&,
                    const Context&) override {
    return torch::zeros_like(queries);
  }
  at::Tensor sum(const CrossEntropy&, const at::Tensor&, const at::Tensor&) override {
    return torch::full({}, 5);
  }
};

TEST(ModelLayers, StrategiesTakeOver) {
  Linear linear({.inputs = 3, .outputs = 2});
  linear.adapters.push_back(std::make_shared<Ones>());
  EXPECT_EQ(linear.forward(torch::rand({4, 3}), {}).sum().item<float>(), 8);
  const auto marker = std::make_shared<Marker>();
  Attention attention({.width = 4, .heads = 2});
  attention.strategy = marker;
  torch::NoGradGuard no_grad;
  attention.c_proj->bias.fill_(7);
  EXPECT_TRUE(attention.forward(torch::rand({1, 3, 4}), {}).eq(7).all().item<bool>());
  CrossEntropy loss;
  loss.strategy = marker;
  EXPECT_EQ(loss.sum(torch::rand({2, 3}), torch::zeros({2}, at::kLong)).item<float>(), 5);
}

TEST(ModelLayers, WithoutOneAreLibTorchs) {
  torch::manual_seed(1);
  Linear linear({.inputs = 3, .outputs = 2});
  Norm norm({.width = 3});
  Embedding table({.rows = 5, .width = 3});
  torch::NoGradGuard no_grad;
  for (const at::Tensor& p : {linear.weight, linear.bias, norm.weight, norm.bias, table.weight}) {
    p.normal_();
  }
  const at::Tensor x = torch::rand({4, 3});
  EXPECT_TRUE(linear.forward(x, {}).equal(F::linear(x, linear.weight, linear.bias)));
  const auto options = F::LayerNormFuncOptions({3}).weight(norm.weight).bias(norm.bias);
  EXPECT_TRUE(norm.forward(x, {}).allclose(F::layer_norm(x, options), 1e-5, 1e-6));
  const at::Tensor rows = torch::tensor({4, 0, 4});
  EXPECT_TRUE(table.forward(rows, {}).equal(table.weight.index_select(0, rows)));
}

TEST(ModelLayers, CrossEntropyIsASum) {
  torch::manual_seed(2);
  const at::Tensor logits = torch::randn({3, 5, 7}), target = torch::randint(7, {3, 5});
  for (const double smoothing : {0.0, 0.1}) {
    const auto loss = cross_entropy({.label_smoothing = smoothing});
    const auto options =
        F::CrossEntropyFuncOptions().reduction(torch::kSum).label_smoothing(smoothing);
    const at::Tensor wanted = F::cross_entropy(logits.view({15, 7}), target.view({15}), options);
    EXPECT_TRUE(loss->sum(logits, target).allclose(wanted, 1e-5));
    EXPECT_EQ(loss->terms(target), 15);
  }
  const auto padded = cross_entropy({.ignored = -1});
  at::Tensor some = target.clone();
  some[0].fill_(-1);
  EXPECT_EQ(padded->terms(some), 10);
  EXPECT_TRUE(padded->sum(logits, some)
                  .allclose(cross_entropy()->sum(logits.slice(0, 1), target.slice(0, 1)), 1e-5));
  EXPECT_THROW(padded->sum(logits, target.slice(0, 1)), Error);
}

TEST(ModelLayers, MseIsASum) {
  const at::Tensor output = torch::tensor({1.0f, 4.0f}).view({2, 1});
  EXPECT_EQ(mse()->sum(output, torch::tensor({0.0f, 2.0f})).item<float>(), 5);
  EXPECT_EQ(mse()->terms(torch::zeros({2})), 2);
}

class SmallGpt : public ::testing::Test {
 protected:
  SmallGpt() : gpt({.vocabulary = 13, .context = 12, .width = 16, .layers = 2, .heads = 4}, {}) {
    torch::manual_seed(5);
    for (const at::Tensor& p : gpt.parameters()) p.normal_(0, 0.3);
    tokens = torch::randint(13, {2, 12});
  }
  torch::NoGradGuard no_grad;
  Gpt gpt;
  at::Tensor tokens;
};

TEST_F(SmallGpt, GeneratesWithACacheWhatItGivesWithout) {
  const at::Tensor whole = gpt.forward(tokens, {});
  KeyValueCache cache({.layers = 2, .capacity = 12});
  Context context{.cache = &cache};
  std::vector<at::Tensor> parts;
  for (const auto& [begin, end] : {std::pair{0, 5}, {5, 6}, {6, 7}, {7, 11}, {11, 12}}) {
    EXPECT_EQ(cache.length(), begin);
    parts.push_back(gpt.forward(tokens.slice(1, begin, end), context));
  }
  EXPECT_LT((torch::cat(parts, 1) - whole).abs().max().item<float>(), 1e-4);
  EXPECT_THROW(gpt.forward(tokens.slice(1, 0, 1), context), Error);
  cache.clear();
  EXPECT_LT((gpt.forward(tokens, context) - whole).abs().max().item<float>(), 1e-4);
}

TEST_F(SmallGpt, DocumentsDoNotSeeEachOther) {
  const at::Tensor documents = torch::zeros({2, 12}, at::kLong);
  documents.slice(1, 5).fill_(1);
  at::Tensor positions = torch::cat({torch::arange(5), torch::arange(7)});
  const Context context{.positions = positions, .documents = documents};
  const at::Tensor both = gpt.forward(tokens, context);
  const at::Tensor first = gpt.forward(tokens.slice(1, 0, 5), {});
  const at::Tensor second = gpt.forward(tokens.slice(1, 5), {});
  EXPECT_LT((both - torch::cat({first, second}, 1)).abs().max().item<float>(), 1e-4);
}

// The mean over many steps equals the result without dropout: 400 steps with probability one half
// reduce the deviation to 1/20, and five of those are allowed.
TEST(ModelLayers, AttentionDropsByTheSampleAndFairly) {
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  Attention attention({.width = 8, .heads = 2, .dropout = 0.5});
  for (at::Tensor& parameter : attention.parameters()) parameter.normal_(0, 0.5);
  const at::Tensor x = torch::randn({3, 5, 8});
  const at::Tensor whole = attention.forward(x, {});
  at::Tensor sum = torch::zeros_like(whole), squares = torch::zeros_like(whole);
  for (int step = 0; step < 400; ++step) {
    const at::Tensor y = attention.forward(x, {.is_training = true, .seed = 7, .step = step});
    sum += y;
    squares += (y - whole).square();
  }
  const at::Tensor spread = (squares / 400).sqrt() / 20;
  EXPECT_GT(spread.max().item<float>(), 0);
  EXPECT_TRUE(((sum / 400 - whole).abs() <= 5 * spread + 1e-5).all().item<bool>());

  const Context all{.is_training = true, .seed = 7, .places = torch::tensor({4, 9, 2})};
  const Context last{.is_training = true, .seed = 7, .places = torch::tensor({2})};
  EXPECT_TRUE(attention.forward(x, all).slice(0, 2).allclose(attention.forward(x.slice(0, 2), last),
                                                             1e-5, 1e-6));
}

TEST(ModelLayers, AttentionThatDropsSeesOnlyItsDocumentAndThePast) {
  torch::manual_seed(2);
  const torch::NoGradGuard no_grad;
  Attention attention({.width = 4, .heads = 1, .dropout = 0.3});
  for (at::Tensor& parameter : attention.parameters()) parameter.normal_(0, 0.5);
  const at::Tensor x = torch::randn({1, 6, 4});
  at::Tensor changed = x.clone();
  changed.slice(1, 0, 3).normal_();
  for (const at::Tensor& documents :
       {torch::tensor({{0, 0, 0, 1, 1, 1}}), torch::tensor({{0, 0, 0, 0, 0, 0}})}) {
    const Context context{.is_training = true, .seed = 3, .documents = documents};
    const at::Tensor before = attention.forward(x, context);
    const at::Tensor after = attention.forward(changed, context);
    const bool is_apart = documents[0][5].item<std::int64_t>() == 1;
    EXPECT_EQ(before.slice(1, 3).equal(after.slice(1, 3)), is_apart);
    at::Tensor later = x.clone();
    later.slice(1, 4).normal_();
    EXPECT_TRUE(attention.forward(later, context).slice(1, 0, 4).equal(before.slice(1, 0, 4)));
  }
}

}  // namespace
}  // namespace trireme::model
