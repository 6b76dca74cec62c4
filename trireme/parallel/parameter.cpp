#include "trireme/parallel/parameter.h"

#include <unordered_set>

namespace trireme::parallel {

std::vector<Parameter> parameters_of(const torch::nn::Module& module, const Treat& treat) {
  std::vector<Parameter> all;
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters()) {
    const at::Tensor& tensor = item.value();
    if (!tensor.requires_grad() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    const Treatment treatment = treat ? treat(item.key(), tensor) : Treatment{};
    all.push_back({.name = item.key(),
                   .tensor = tensor,
                   .rate_factor = treatment.rate_factor,
                   .weight_decay = treatment.weight_decay,
                   .first_update = treatment.first_update,
                   .rule = treatment.rule});
  }
  return all;
}

}  // namespace trireme::parallel
