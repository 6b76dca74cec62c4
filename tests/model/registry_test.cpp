// Goal:   recipes name models, including a user's own; initial weights depend only on the seed and
//         the name, have the correct distributions, and are the same whole or slice by slice.
// Method: recipes as text; moments of filled tensors; the same model created twice, in both widths.

#include "trireme/model/registry.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/model/model_config.h"
#include "trireme/model/start.h"
#include "trireme/model/wrap.h"

namespace trireme::model {
namespace {

struct OwnConfig {
  int width = 3;
  static void describe(config::Fields<OwnConfig>& f) { f.add("hidden_size", &OwnConfig::width); }
};

std::shared_ptr<Model> make(const std::string& recipe, const data::Form& form) {
  ModelRegistry registry;
  add_models(registry);
  registry.add<OwnConfig>("own", "a user's", [](const OwnConfig& c, const Facts& facts) {
    return wrap(torch::nn::Linear(facts.form.input_count(), c.width));
  });
  config::Schema schema;
  registry.add_sections(schema);
  const auto config = read_config(schema, {.files = {{.name = "recipe", .text = recipe}}});
  return registry.make(config, {.form = form});
}

data::Form pictures() {
  data::Form form;
  form.input_sizes = {1, 28, 28};
  form.classes = 10;
  return form;
}

TEST(ModelRegistry, MakesWhatTheRecipeNames) {
  EXPECT_EQ(parameter_count(*make("[model]\nkind = \"cnn\"", pictures())), 1663370);
  EXPECT_EQ(make("[model]\nkind = \"mlp\"\nhidden_sizes = [5]", pictures())->blocks().size(), 2u);
  EXPECT_EQ(parameter_count(*make("[model]\nkind = \"own\"\nhidden_size = 2", pictures())),
            2 * 785);
  EXPECT_THROW(make("[model]\nkind = \"gpt\"\nhidden_size = 10\nnum_heads = 3", pictures()), Error);
  EXPECT_THROW(make("[model]\nkind = \"own\"\nrecompute = true", pictures()), Error);
  ModelRegistry registry;
  add_models(registry);
  EXPECT_EQ(registry.names(), (std::vector<std::string>{
                                  "mlp", "cnn", "gpt", "llama", "resnet", "vit", "lstm", "linear",
                                  "logistic", "autoencoder", "gan", "audio", "multitask"}));
  EXPECT_THROW(add_models(registry), Error);
}

TEST(ModelRegistry, RefusesDataOfAnotherKind) {
  data::Form tokens;
  tokens.input_sizes = {6};
  tokens.input_type = at::kLong;
  tokens.target_sizes = {6};
  tokens.classes = 9;
  data::Form numbers = tokens;
  numbers.input_type = at::kFloat;
  const std::string gpt = "[model]\nkind = \"gpt\"\nhidden_size = 8\nnum_layers = 1\nnum_heads = 2";
  EXPECT_NO_THROW(make(gpt, tokens));
  const auto complaint = [](const std::string& recipe, const data::Form& form) -> std::string {
    try {
      make(recipe, form);
    } catch (const Error& error) {
      return error.code() == ErrorCode::InvalidInput ? error.message() : "";
    }
    return "";
  };
  EXPECT_NE(
      complaint(gpt + "\nvocab_size = 300\nmax_seq_len = 6", pictures()).find("rows of tokens"),
      std::string::npos);
  EXPECT_NE(complaint(gpt, numbers).find("rows of tokens"), std::string::npos);
  EXPECT_NE(complaint("[model]\nkind = \"mlp\"", tokens).find("a mlp requires numbers"),
            std::string::npos);
  EXPECT_NE(complaint("[model]\nkind = \"cnn\"", tokens).find("a cnn requires numbers"),
            std::string::npos);
}

TEST(ModelStart, IsAFunctionOfTheSeedAlone) {
  const std::string recipe =
      "[model]\nkind = \"gpt\"\nvocab_size = 9\nmax_seq_len = 4\nhidden_size = 8\nnum_layers = "
      "1\nnum_heads = 2";
  const auto a = make(recipe, {}), b = make(recipe, {}), other = make(recipe, {});
  initialize(*a, 11);
  torch::rand({5});  // torch's generator has no influence
  initialize(*b, 11);
  initialize(*other, 12);
  for (const auto& item : a->named_parameters()) {
    EXPECT_TRUE(item.value().equal(b->named_parameters()[item.key()])) << item.key();
    const bool is_random = item.value().dim() > 1;
    EXPECT_EQ(item.value().equal(other->named_parameters()[item.key()]), !is_random);
  }
  b->to(at::kDouble);
  initialize(*b, 11);
  for (const auto& item : a->named_parameters()) {
    EXPECT_TRUE(item.value().equal(b->named_parameters()[item.key()].to(at::kFloat)));
  }
}

TEST(ModelStart, DistributionsArePyTorchs) {
  const auto mlp = make("[model]\nkind = \"mlp\"\nhidden_sizes = [300]", pictures());
  initialize(*mlp, 1);
  const double bound = 1 / std::sqrt(784.0);
  for (const char* name : {"layers.0.weight", "layers.0.bias"}) {
    const at::Tensor values = mlp->named_parameters()[name].detach();
    EXPECT_LE(values.abs().max().item<double>(), bound);
    EXPECT_GT(values.abs().max().item<double>(), 0.95 * bound);
    EXPECT_NEAR(values.std().item<double>(), bound / std::sqrt(3.0), 0.07 * bound);
  }
  const auto gpt = make(
      "[model]\nkind = \"gpt\"\nvocab_size = 100\nmax_seq_len = 8\nhidden_size = 64\n"
      "num_layers = 8\nnum_heads = 2",
      {});
  initialize(*gpt, 1);
  const auto all = gpt->named_parameters();
  EXPECT_NEAR(all["transformer.wte.weight"].std().item<double>(), 0.02, 0.001);
  EXPECT_NEAR(all["transformer.h.3.mlp.c_proj.weight"].std().item<double>(), 0.005, 0.0003);
  EXPECT_TRUE(all["transformer.ln_f.weight"].eq(1).all().item<bool>());
  EXPECT_TRUE(all["transformer.h.3.mlp.c_proj.bias"].eq(0).all().item<bool>());
}

TEST(ModelStart, SlicesAreThoseOfTheWhole) {
  const at::Tensor whole = torch::empty({7, 11});
  for (const Start& start : {Start::normal(2), Start::uniform(3), Start::constant(4)}) {
    fill(whole, start, 5, "name");
    for (const std::int64_t begin : {0, 1, 33, 76, 77}) {
      const at::Tensor part = torch::empty({77 - begin});
      fill_slice(part, begin, start, 5, "name");
      EXPECT_TRUE(part.equal(whole.view({-1}).slice(0, begin)));
    }
    const at::Tensor strided = torch::empty({11, 7}).t();
    fill(strided, start, 5, "name");
    EXPECT_TRUE(strided.equal(whole));
  }
  const at::Tensor kept = torch::full({3}, 8);
  fill(kept, Start::keep(), 5, "name");
  EXPECT_TRUE(kept.eq(8).all().item<bool>());
}

}  // namespace
}  // namespace trireme::model
