#include "trireme/model/kind/mlp.h"

#include <string>

#include "trireme/model/feature_size.h"
#include "trireme/model/registry.h"
#include "trireme/model/simple_blocks.h"

namespace trireme::model {

Mlp::Mlp(const MlpConfig& config, const data::Form& form) {
  require_numbers("mlp", form);
  std::int64_t inputs = form.input_count();
  const std::size_t count = config.widths.size() + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_last = i + 1 == count;
    const std::int64_t outputs = is_last ? outputs_for(form) : config.widths[i];
    add("layers." + std::to_string(i),
        std::make_shared<Dense>(Dense::Options{.inputs = inputs,
                                               .outputs = outputs,
                                               .is_last = is_last,
                                               .dropout = config.dropout,
                                               .index = static_cast<int>(i)}));
    inputs = outputs;
  }
}

std::vector<SplitRule> Mlp::split_rules() const {
  std::vector<SplitRule> rules;
  for (std::size_t i = 0; i + 1 < paths().size(); i += 2) {
    rules.push_back({.layers = paths()[i], .cut = SplitRule::Cut::Outputs});
    rules.push_back({.layers = paths()[i + 1], .cut = SplitRule::Cut::Inputs});
  }
  return rules;
}

void add_mlp(ModelRegistry& registry) {
  registry.add<MlpConfig, Mlp>("mlp", "a multilayer perceptron (fully connected layers)");
}

}  // namespace trireme::model
