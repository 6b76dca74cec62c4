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

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"
#include "trireme/model/block_model.h"

namespace trireme::model {

// The defaults are those of the smallest GPT-2, except for values that follow from the data.
struct GptConfig {
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  double dropout = 0;
  double attention_dropout = 0;
  bool tie_word_embeddings = true;
  bool bias = true;
  double norm_eps = 1e-5;

  static void describe(config::Fields<GptConfig>& f);
};

class Gpt final : public BlockModel {
 public:
  Gpt(const GptConfig& config, const data::Form& form);

  // With the resolved vocabulary and context.
  const GptConfig& config() const noexcept { return config_; }

  // Standard deviation 0.02, smaller for projections into the residual stream; biases 0, norms 1.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
  Published published(const std::string& parameter) const override;
  std::vector<SplitRule> split_rules() const override;

 private:
  GptConfig config_;
};

}  // namespace trireme::model
