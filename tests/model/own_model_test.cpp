// Goal:   the custom model in docs/models.md compiles, is created from a recipe and trains.
// Method: this file contains the example of that page verbatim, which a test checks.

#include <ATen/ops/tanh.h>

#include "trireme/model/block_model.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/registry.h"

namespace {

using namespace trireme;

struct TanhConfig {
  std::int64_t hidden_size = 32;
  std::int64_t depth = 2;

  static void describe(config::Fields<TanhConfig>& f) {
    f.add("hidden_size", &TanhConfig::hidden_size).range(1, 4096).help("neurons of a layer");
    f.add("depth", &TanhConfig::depth).range(0, 100).help("hidden layers");
  }
};

class TanhLayer : public model::Block {
 public:
  TanhLayer(std::int64_t inputs, std::int64_t outputs)
      : linear_(register_module("linear", std::make_shared<model::Linear>(model::Linear::Options{
                                              .inputs = inputs, .outputs = outputs}))) {}

  model::Activations forward(model::Activations in, const model::Context& context) override {
    in.main = at::tanh(linear_->forward(in.main.flatten(1), context));
    return in;
  }

 private:
  std::shared_ptr<model::Linear> linear_;
};

class TanhNet : public model::BlockModel {
 public:
  TanhNet(const TanhConfig& config, const data::Form& form) {
    std::int64_t inputs = form.input_count();
    for (std::int64_t i = 0; i < config.depth; ++i) {
      add("hidden." + std::to_string(i), std::make_shared<TanhLayer>(inputs, config.hidden_size));
      inputs = config.hidden_size;
    }
    add("last", std::make_shared<TanhLayer>(inputs, form.classes));
  }
};

void add_tanh(model::ModelRegistry& registry) {
  registry.add<TanhConfig, TanhNet>("tanh", "layers of tanh neurons");
}

}  // namespace

// End of the example.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/folders.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/file/file.h"
#include "trireme/model/loss/loss.h"

namespace trireme::model {
namespace {

TEST(OwnModel, ARecipeMakesItAndItLearns) {
  ModelRegistry registry;
  add_tanh(registry);
  config::Schema schema;
  registry.add_sections(schema);
  const auto config = read_config(schema, {.overrides = {"model.depth=1", "model.hidden_size=5"}});
  data::Form form;
  form.input_sizes = {2, 3};
  form.classes = 4;
  const auto model = registry.make(config, {.form = form});
  EXPECT_EQ(model->named_parameters().keys(),
            (std::vector<std::string>{"hidden.0.linear.weight", "hidden.0.linear.bias",
                                      "last.linear.weight", "last.linear.bias"}));
  initialize(*model, 1);
  torch::manual_seed(1);
  const at::Tensor input = torch::randn({8, 2, 3}), target = torch::randint(4, {8});
  torch::optim::SGD optimizer(model->parameters(), 0.5);
  std::vector<double> losses;
  for (int step = 0; step < 30; ++step) {
    optimizer.zero_grad();
    const at::Tensor loss = cross_entropy()->sum(model->forward(input, {}), target) / 8;
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  EXPECT_LT(losses.back(), 0.8 * losses.front());
}

TEST(OwnModel, ThePageShowsThisFile) {
  const std::string root = source_folder();
  const std::string page = read_file(root + "/docs/models.md");
  const std::string source = read_file(root + "/tests/model/own_model_test.cpp");
  const std::size_t begin = source.find("#include"), end = source.find("\n// End of the example.");
  ASSERT_LT(begin, end);
  EXPECT_NE(page.find("```cpp\n" + source.substr(begin, end - begin) + "```"), std::string::npos);
}

}  // namespace
}  // namespace trireme::model
