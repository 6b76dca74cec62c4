// Goal:   a low-rank change is trained beside frozen weights and can be merged into them.
// Method: a gpt and an mlp compared with the products written out; merged compared with attached.

#include "trireme/model/layer/lora.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/model/kind/gpt.h"
#include "trireme/model/transfer_config.h"

namespace trireme::model {
namespace {

std::shared_ptr<Gpt> gpt_to_change() {
  auto gpt = std::make_shared<Gpt>(
      GptConfig{.vocabulary = 11, .context = 6, .width = 16, .layers = 2, .heads = 2},
      data::Form{});
  initialize(*gpt, 1);
  return gpt;
}

at::Tensor parameter(const Model& model, const std::string& name) {
  const auto all = model.named_parameters();
  const at::Tensor* found = all.find(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

const auto kEverywhere = [](const std::string&) { return true; };

TEST(LoraChange, BeginsAsNothingAndIsAProduct) {
  const torch::NoGradGuard no_grad;
  const auto plain = gpt_to_change(), changed = gpt_to_change();
  const std::size_t before = changed->named_parameters().size();
  const int count =
      attach_lora(*changed, {.rank = 3, .scale = 2, .is_wanted = [](const auto& name) {
                               return name.ends_with("c_attn");
                             }});
  EXPECT_EQ(count, 2);
  EXPECT_EQ(changed->named_parameters().size(), before + 4);
  const at::Tensor tokens = torch::tensor({{1, 2, 3, 4}}, torch::kLong);
  EXPECT_TRUE(changed->forward(tokens, {}).equal(plain->forward(tokens, {})));
  const std::string layer = "transformer.h.1.attn.c_attn.";
  EXPECT_EQ(parameter(*changed, layer + "lora_a").sizes(), (std::vector<std::int64_t>{3, 16}));
  parameter(*changed, layer + "lora_b").normal_(0, 0.5);
  parameter(*plain, layer + "weight")
      .add_(2 * parameter(*changed, layer + "lora_b").mm(parameter(*changed, layer + "lora_a")));
  const at::Tensor wanted = plain->forward(tokens, {});
  EXPECT_TRUE(changed->forward(tokens, {}).allclose(wanted, 1e-4, 1e-5));
}

TEST(LoraChange, IsMerged) {
  const torch::NoGradGuard no_grad;
  const auto model = gpt_to_change();
  attach_lora(*model, {.rank = 2, .is_wanted = kEverywhere});
  const at::Tensor weight = parameter(*model, "transformer.h.0.mlp.c_fc.weight");
  const at::Tensor before = weight.clone();
  for (const auto& item : model->named_parameters()) {
    if (item.key().ends_with("lora_b")) at::Tensor(item.value()).normal_(0, 0.3);
  }
  const at::Tensor tokens = torch::tensor({{7, 3, 1}}, torch::kLong);
  const at::Tensor wanted = model->forward(tokens, {});
  for (int turn = 0; turn < 2; ++turn) merge_lora(*model);  // the second call has no effect
  EXPECT_FALSE(weight.allclose(before));
  EXPECT_TRUE(model->forward(tokens, {}).allclose(wanted, 1e-4, 1e-5));
}

TEST(LoraChange, GetsGradientsWhereTheWeightGetsNone) {
  const auto model = gpt_to_change();
  attach_lora(*model, {.rank = 2, .is_wanted = kEverywhere});
  for (const auto& item : model->named_parameters()) {
    at::Tensor(item.value()).set_requires_grad(is_lora(item.key()));
  }
  model->forward(torch::tensor({{7, 3, 1}}, torch::kLong), {}).sum().backward();
  for (const auto& item : model->named_parameters()) {
    // The gradient of A is zero as long as B is zero.
    EXPECT_EQ(item.value().grad().defined(), is_lora(item.key())) << item.key();
    if (!item.key().ends_with("lora_b")) continue;
    EXPECT_GT(item.value().grad().abs().sum().item<float>(), 0);
  }
  EXPECT_EQ(TransferConfig{}.lora_rank, 0);
}

}  // namespace
}  // namespace trireme::model
