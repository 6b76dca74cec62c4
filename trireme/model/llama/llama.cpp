#include "trireme/model/llama/llama.h"

#include "trireme/model/llama/llama_blocks.h"
#include "trireme/model/text_size.h"

namespace trireme::model {
namespace {

LlamaConfig sized_llama(LlamaConfig config, const data::Form& form) {
  const TextSize size = text_size("llama", {config.vocabulary, config.context}, form);
  config.vocabulary = size.vocabulary;
  config.context = size.context;
  return config;
}

}  // namespace

Llama::Llama(const LlamaConfig& config, const data::Form& form)
    : config_(sized_llama(config, form)) {
  const auto embedding = std::make_shared<LlamaEmbedding>(config_);
  add("model", embedding);
  for (int layer = 0; layer < config_.layers; ++layer) {
    const std::string path = "model.layers." + std::to_string(layer);
    add(path, std::make_shared<LlamaAttention>(config_, layer));
    add(path, std::make_shared<LlamaMlp>(config_));
  }
  add("", std::make_shared<LlamaHead>(
              config_, config_.tie_word_embeddings ? embedding->table() : at::Tensor()));
}

Start Llama::start_of(const std::string&, const at::Tensor& parameter) const {
  return parameter.dim() < 2 ? Start::constant(1) : Start::normal(0.02);
}

}  // namespace trireme::model
