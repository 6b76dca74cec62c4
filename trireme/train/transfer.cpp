#include "trireme/train/transfer.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/model/block_model.h"
#include "trireme/model/layer/lora.h"
#include "trireme/optim/groups.h"

namespace trireme::train {
namespace {

void attach(model::Model& model, const model::TransferConfig& config, std::uint64_t seed) {
  const double alpha = config.lora_alpha > 0 ? config.lora_alpha : config.lora_rank;
  const int count = model::attach_lora(model, {.rank = config.lora_rank,
                                               .scale = alpha / config.lora_rank,
                                               .seed = seed,
                                               .is_wanted = [&](const std::string& layer) {
                                                 return fits_any(config.lora_target_modules, layer);
                                               }});
  if (count > 0) return;
  throw Error(ErrorCode::InvalidInput,
              "model.lora_target_modules matches no linear layer of this model");
}

}  // namespace

void expect_fits(const model::Model& model, const std::vector<std::string>& patterns,
                 const char* setting) {
  const auto parameters = model.named_parameters();
  for (const std::string& pattern : patterns) {
    const auto is_of = [&](const auto& item) { return optim::is_match(pattern, item.key()); };
    if (std::any_of(parameters.begin(), parameters.end(), is_of)) continue;
    throw Error(ErrorCode::InvalidInput, std::string(setting) + ": \"" + pattern +
                                             "\" matches no weight; the first weight is " +
                                             parameters.front().key());
  }
}

bool fits_any(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return optim::is_match(pattern, name); });
}

void prepare_transfer(model::Model& model, const model::TransferConfig& config,
                      std::uint64_t seed) {
  expect_fits(model, config.load_fresh, "model.load_fresh");
  expect_fits(model, config.freeze, "model.freeze");
  expect_fits(model, config.lora_modules_to_save, "model.lora_modules_to_save");
  const bool has_lora = config.lora_rank > 0;
  if (has_lora) attach(model, config, seed);
  for (const auto& item : model.named_parameters()) {
    const bool is_left = has_lora && !model::is_lora(item.key()) &&
                         !fits_any(config.lora_modules_to_save, item.key());
    if (!is_left && !fits_any(config.freeze, item.key())) continue;
    at::Tensor frozen = item.value();
    frozen.set_requires_grad(false);
  }
  const auto all = model.parameters();
  if (std::none_of(all.begin(), all.end(), [](const at::Tensor& t) { return t.requires_grad(); })) {
    throw Error(ErrorCode::InvalidInput, "model.freeze leaves nothing to train");
  }
}

Levels::Levels(const model::Model& model, const std::string& setting) {
  const auto* blocks = dynamic_cast<const model::BlockModel*>(&model);
  if (blocks == nullptr) {
    throw Error(ErrorCode::InvalidInput, setting + " requires a model that is made of blocks");
  }
  for (std::size_t i = 0; i < blocks->paths().size(); ++i) {
    const std::string& path = blocks->paths()[i];
    if (i == 0 || path != blocks->paths()[i - 1]) ++count_;
    for (const auto& item : blocks->blocks()[i]->named_parameters()) {
      levels_.emplace_back(path.empty() ? item.key() : path + "." + item.key(), count_ - 1);
    }
  }
  // The stable sort keeps the first level of a tied parameter in front.
  std::ranges::stable_sort(levels_, {}, &std::pair<std::string, int>::first);
}

int Levels::of(const std::string& parameter) const {
  const auto found =
      std::ranges::lower_bound(levels_, parameter, {}, &std::pair<std::string, int>::first);
  TRIREME_CHECK(found != levels_.end() && found->first == parameter, "no block has the parameter ",
                parameter);
  return found->second;
}

}  // namespace trireme::train
