#include "trireme/model/gpt/gpt.h"

#include <cmath>

#include "trireme/model/gpt/gpt_blocks.h"
#include "trireme/model/text_size.h"

namespace trireme::model {
namespace {

GptConfig sized(GptConfig config, const data::Form& form) {
  const TextSize size = text_size("gpt", {config.vocabulary, config.context}, form);
  config.vocabulary = size.vocabulary;
  config.context = size.context;
  return config;
}

bool is_projection(const std::string& name) {
  return name.ends_with(".c_attn.weight") || name.ends_with(".c_proj.weight") ||
         name.ends_with(".c_fc.weight");
}

}  // namespace

Gpt::Gpt(const GptConfig& config, const data::Form& form) : config_(sized(config, form)) {
  const auto embedding = std::make_shared<GptEmbedding>(config_);
  add("transformer", embedding);
  for (int layer = 0; layer < config_.layers; ++layer) {
    const std::string path = "transformer.h." + std::to_string(layer);
    add(path, std::make_shared<GptAttention>(config_, layer));
    add(path, std::make_shared<GptMlp>(config_, layer));
  }
  add("", std::make_shared<GptHead>(
              config_, config_.tie_word_embeddings ? embedding->table() : at::Tensor()));
}

Start Gpt::start_of(const std::string& name, const at::Tensor& parameter) const {
  if (name.ends_with("bias")) return Start::constant(0);
  if (parameter.dim() < 2) return Start::constant(1);
  const bool is_residual = name.ends_with(".c_proj.weight");
  return Start::normal(is_residual ? 0.02 / std::sqrt(2.0 * static_cast<double>(config_.layers))
                                   : 0.02);
}

Published Gpt::published(const std::string& parameter) const {
  return {.name = parameter, .is_transposed = is_projection(parameter)};
}

}  // namespace trireme::model
