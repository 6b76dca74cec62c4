// Gpt is a decoder-only transformer of the GPT-2 family: learned positions, layer norms before
// attention and mlp, tanh-approximated GELU. Each layer is two blocks, attention and mlp.
//
// Names:   Hugging Face's GPT2LMHeadModel: transformer.wte.weight, transformer.h.0.ln_1.weight,
//          transformer.h.0.attn.c_attn.weight ... Theirs are stored transposed where ours are
//          Linears; published() says where.
// Input:   int64 (B, T), T at most the context; output (B, T, vocabulary).
// Failure: InvalidInput where neither the data nor the recipe say how large it is, or where a text
//          is longer than the context.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/gpt_config.h"

namespace trireme::model {

class Gpt final : public BlockModel {
 public:
  Gpt(const GptConfig& config, const data::Form& form);

  // With vocabulary and context as they were found.
  const GptConfig& config() const noexcept { return config_; }

  // Deviation 0.02, smaller for what is added to the residual stream; biases 0, norms 1.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
  Published published(const std::string& parameter) const override;

 private:
  GptConfig config_;
};

}  // namespace trireme::model
