#include "trireme/parallel/kinds.h"

#include <optional>

#include "trireme/optim/groups.h"
#include "trireme/optim/kinds.h"

namespace trireme::parallel {

Treat treatment_of(const config::Config& config) {
  const optim::Groups groups(config.get<optim::OptimConfig>(optim::kOptimSection));
  const double decay = optim::weight_decay_of(config);
  const std::optional<optim::SecondRule> second = optim::second_rule_of(config);
  return [groups, decay, second](const std::string& name, const at::Tensor& tensor) {
    const optim::ParamGroup group = groups.group_of(name, tensor.dim());
    if (second && second->is_for(name)) {
      return Treatment{.lr_factor = group.lr_factor * second->lr_factor,
                       .weight_decay = group.is_decayed ? second->weight_decay : 0,
                       .rule = 1};
    }
    return Treatment{.lr_factor = group.lr_factor, .weight_decay = group.is_decayed ? decay : 0};
  };
}

}  // namespace trireme::parallel
