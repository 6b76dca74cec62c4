// Gpt is a decoder-only transformer of the GPT-2 family: learned positions, layer norms before
// attention and mlp, tanh-approximated GELU. Each layer is two blocks, attention and mlp.
//
// Names:  those of Hugging Face's GPT2LMHeadModel: transformer.wte.weight,
//         transformer.h.0.ln_1.weight, transformer.h.0.attn.c_attn.weight ... Hugging Face stores
//         the weights of these Linears transposed; published() reports which.
// Input:  int64 (B, T), T at most the context; output (B, T, vocabulary).
// Errors: InvalidInput if neither the data nor the recipe determine its size, or if a text is
//         longer than the context.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/gpt/gpt_config.h"

namespace trireme::model {

class Gpt final : public BlockModel {
 public:
  Gpt(const GptConfig& config, const data::Form& form);

  // With the resolved vocabulary and context.
  const GptConfig& config() const noexcept { return config_; }

  // Standard deviation 0.02, smaller for projections into the residual stream; biases 0, norms 1.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
  Published published(const std::string& parameter) const override;

 private:
  GptConfig config_;
};

}  // namespace trireme::model
