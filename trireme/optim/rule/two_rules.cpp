#include "trireme/optim/rule/two_rules.h"

#include <algorithm>

#include "trireme/base/check.h"

namespace trireme::optim {

TwoRules::TwoRules(std::unique_ptr<Optimizer> first, std::unique_ptr<Optimizer> second)
    : rules_{Rule{.optimizer = std::move(first), .states = {}},
             Rule{.optimizer = std::move(second), .states = {}}} {
  for (Rule& rule : rules_) {
    for (const std::string& name : rule.optimizer->state_names()) {
      const auto found = std::find(names_.begin(), names_.end(), name);
      rule.states.push_back(static_cast<std::size_t>(found - names_.begin()));
      if (found == names_.end()) names_.push_back(name);
    }
  }
}

Grain TwoRules::grain() const noexcept {
  const bool is_whole = std::any_of(rules_.begin(), rules_.end(), [](const Rule& rule) {
    return rule.optimizer->grain() == Grain::WholeTensor;
  });
  return is_whole ? Grain::WholeTensor : Grain::Element;
}

void TwoRules::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                   Guard* /*guard*/) const {
  for (const Slice& slice : slices) {
    TRIREME_CHECK(slice.rule == 0 || slice.rule == 1, "rule ", slice.rule, " of two");
    TRIREME_CHECK_EQ(slice.state.size(), names_.size(), "state of a slice");
    const Rule& rule = rules_[static_cast<std::size_t>(slice.rule)];
    Slice own = slice;
    own.state.clear();
    for (const std::size_t at : rule.states) own.state.push_back(slice.state[at]);
    rule.optimizer->update({&own, 1}, step, gradient_scale);
  }
}

}  // namespace trireme::optim
