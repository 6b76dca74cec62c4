// Llama is a decoder-only transformer of the Llama family: RMS norms, rotary positions, SwiGLU, and
// grouped-query attention. Each layer is two blocks, attention and mlp.
//
// Names:  those of Hugging Face's LlamaForCausalLM: model.embed_tokens.weight,
//         model.layers.0.self_attn.q_proj.weight, model.norm.weight, lm_head.weight ...
// Input:  int64 (B, T), T at most the context; output (B, T, vocabulary).
// Errors: InvalidInput if neither the data nor the recipe determine its size, or if a text is
//         longer than the context.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/llama/llama_config.h"

namespace trireme::model {

class Llama final : public BlockModel {
 public:
  Llama(const LlamaConfig& config, const data::Form& form);

  // With the resolved vocabulary and context.
  const LlamaConfig& config() const noexcept { return config_; }

  // Standard deviation 0.02; norms 1.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;

 private:
  LlamaConfig config_;
};

}  // namespace trireme::model
