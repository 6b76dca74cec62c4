#include "trireme/train/module_precision.h"

#include <optional>

#include "trireme/base/error.h"
#include "trireme/model/block_model.h"
#include "trireme/optim/groups.h"

namespace trireme::train {
namespace {

struct PrecisionRule {
  std::string pattern;
  at::ScalarType type;
  bool is_used = false;
};

std::vector<PrecisionRule> rules_of(const TrainConfig& config) {
  std::vector<PrecisionRule> rules;
  for (const std::string& text : config.module_precision) {
    const std::size_t equals = text.rfind('=');
    const bool is_narrow = text.substr(equals + 1) == "bf16";
    if (is_narrow && config.precision == Precision::Float16) {
      throw Error(ErrorCode::InvalidInput,
                  "train.module_precision: bfloat16 is not supported together with float16");
    }
    if (is_narrow && (config.fp32_steps > 0 || config.fallback_steps > 0)) {
      throw Error(ErrorCode::InvalidInput,
                  "train.module_precision: blocks that are bfloat16 by name would stay bfloat16 in "
                  "fp32_steps and fallback_steps; use train.precision=bf16 and name the "
                  "blocks that are float32");
    }
    rules.push_back({text.substr(0, equals), is_narrow ? at::kBFloat16 : at::kFloat});
  }
  return rules;
}

// The type in the last rule that matches one of the block's parameters.
std::optional<at::ScalarType> type_of(const model::Block& block, const std::string& path,
                                      std::vector<PrecisionRule>& rules) {
  const std::string prefix = path.empty() ? "" : path + ".";
  std::optional<at::ScalarType> type;
  for (PrecisionRule& rule : rules) {
    for (const auto& parameter : block.named_parameters()) {
      if (!optim::is_match(rule.pattern, prefix + parameter.key())) continue;
      rule.is_used = true;
      type = rule.type;
    }
  }
  return type;
}

}  // namespace

std::optional<c10::ScalarType> narrow_type(Precision precision) {
  if (precision == Precision::Float32) return std::nullopt;
  return precision == Precision::BFloat16 ? at::kBFloat16 : at::kHalf;
}

void set_module_precisions(model::Model& model, const TrainConfig& config) {
  if (config.module_precision.empty()) return;
  auto* const blocks = dynamic_cast<model::BlockModel*>(&model);
  if (blocks == nullptr) {
    throw Error(ErrorCode::InvalidInput,
                "train.module_precision requires a model that is made of blocks");
  }
  std::vector<PrecisionRule> rules = rules_of(config);
  std::vector<std::optional<at::ScalarType>> types;
  const auto all = blocks->blocks();
  for (std::size_t i = 0; i < all.size(); ++i) {
    types.push_back(type_of(*all[i], blocks->paths()[i], rules));
  }
  for (const PrecisionRule& rule : rules) {
    if (rule.is_used) continue;
    throw Error(ErrorCode::InvalidInput,
                "train.module_precision: " + rule.pattern + " matches no parameter of the model");
  }
  blocks->set_precisions(std::move(types));
}

}  // namespace trireme::train
