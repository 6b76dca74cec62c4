// Goal:   a program's own losses are kinds of [loss] beside the built-in ones; a name that exists
//         already is refused.
// Method: a registry with one loss, and a section that has another kind.

#include "trireme/model/loss/loss_registry.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"

namespace trireme::model {
namespace {

struct BuiltInConfig {
  static void describe(config::Fields<BuiltInConfig>&) {}
};

struct ScaledConfig {
  double factor = 2;
  static void describe(config::Fields<ScaledConfig>& f) { f.add("factor", &ScaledConfig::factor); }
};

class ScaledLoss final : public Loss {
 public:
  explicit ScaledLoss(double factor) : factor_(factor) {}
  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override {
    return (output - target).abs().sum() * factor_;
  }

 private:
  double factor_;
};

LossRegistry registry_with(const std::string& name) {
  LossRegistry registry;
  registry.add<ScaledConfig>(name, "a user's", [](const ScaledConfig& config, const data::Form& f) {
    return std::make_shared<ScaledLoss>(config.factor * static_cast<double>(f.input_count()));
  });
  return registry;
}

std::shared_ptr<const Loss> loss_of(const std::string& recipe) {
  const LossRegistry registry = registry_with("scaled");
  config::Schema schema;
  registry.add_kinds(schema.section(kLossSection).kind<BuiltInConfig>("auto", ""));
  const config::Config config = config::read_config(schema, {.files = {{"recipe", recipe}}});
  return registry.make(config, {.input_sizes = {5}});
}

TEST(LossRegistry, MakesTheLossThatTheRecipeNames) {
  EXPECT_EQ(loss_of(""), nullptr);
  EXPECT_EQ(loss_of("[loss]\nkind = \"auto\""), nullptr);
  const auto loss = loss_of("[loss]\nkind = \"scaled\"\nfactor = 3");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(loss->sum(at::ones({4}), at::zeros({4})).item<double>(), 4 * 3 * 5);
}

TEST(LossRegistry, RefusesANameThatExists) {
  config::Section section(kLossSection, "");
  section.kind<BuiltInConfig>("auto", "");
  EXPECT_THROW(registry_with("auto").add_kinds(section), Error);
}

}  // namespace
}  // namespace trireme::model
