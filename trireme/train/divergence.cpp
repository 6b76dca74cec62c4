#include "trireme/train/divergence.h"

#include <vector>

#include "trireme/optim/kinds.h"
#include "trireme/optim/optim_config.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {
namespace {

std::vector<std::string> remedies_in(const config::Config& config) {
  std::vector<std::string> remedies;
  if (const config::Setting* rate = config.setting("optim.lr")) {
    remedies.push_back("a lower optim.lr (it is " + to_plain(rate->value) + ")");
  }
  const double norm = config.get<optim::OptimConfig>(optim::kOptimSection).max_grad_norm;
  remedies.push_back(norm > 0
                         ? "a smaller optim.max_grad_norm (it is " + config::to_plain({norm}) + ")"
                         : "optim.max_grad_norm=1.0 (clipping is off)");
  if (config.get<TrainConfig>("train").non_finite == NonFinite::Stop) {
    remedies.emplace_back("train.non_finite=skip, which leaves such steps out");
  }
  return remedies;
}

std::string beginning_of(const Divergence& divergence) {
  if (!divergence.newest) return "There is no checkpoint. Begin again with ";
  const std::string newest = "checkpoint is of step " + std::to_string(*divergence.newest);
  if (divergence.helpful == divergence.newest) {
    return "The last " + newest + ". Continue from it with ";
  }
  const std::string same = "The last " + newest + " and leads to the same weights in step " +
                           std::to_string(divergence.first_step);
  if (!divergence.helpful) return same + ", and there is no earlier one. Begin a new job with ";
  return same + ". Continue from that of step " + std::to_string(*divergence.helpful) + " with ";
}

}  // namespace

std::string Divergence::advice(const config::Config& config) const {
  std::string text = beginning_of(*this);
  const std::vector<std::string> remedies = remedies_in(config);
  for (std::size_t i = 0; i < remedies.size(); ++i) {
    const bool is_last = i + 1 == remedies.size();
    text += (i == 0 ? "" : is_last ? " or " : ", ") + remedies[i];
  }
  return helpful ? text + ". If the loss had grown long before that checkpoint, begin a new job"
                 : text;
}

}  // namespace trireme::train
