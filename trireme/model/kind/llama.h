// Llama is a decoder-only transformer of the Llama family: RMS norms, rotary positions, SwiGLU, and
// grouped-query attention. Each layer is two blocks, attention and mlp.
//
// Names:  those of Hugging Face's LlamaForCausalLM: model.embed_tokens.weight,
//         model.layers.0.self_attn.q_proj.weight, model.norm.weight, lm_head.weight ...
// Input:  int64 (B, T), T at most the context; output (B, T, vocabulary).
// Errors: InvalidInput if neither the data nor the recipe determine its size, or if a text is
//         longer than the context.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"
#include "trireme/model/block_model.h"
#include "trireme/model/layer/rope.h"

namespace trireme::model {

struct LlamaConfig {
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t num_kv_heads = 0;
  std::int64_t hidden = 0;
  bool tie_word_embeddings = false;
  double norm_eps = 1e-5;
  double rope_theta = 10000;
  RopeScaling rope_scaling = RopeScaling::None;
  double rope_factor = 8;
  double rope_low_freq_factor = 1;
  double rope_high_freq_factor = 4;
  std::int64_t rope_original_max_seq_len = 8192;

  static void describe(config::Fields<LlamaConfig>& f);

  std::int64_t key_heads() const noexcept { return num_kv_heads ? num_kv_heads : heads; }
  // Two thirds of four widths, rounded up to a multiple of 64: the same number of weights as an mlp
  // of four widths.
  std::int64_t mlp_width() const noexcept {
    return hidden ? hidden : (8 * width / 3 + 63) / 64 * 64;
  }
  RopeOptions rope() const noexcept {
    return {.head_width = width / heads,
            .base = rope_theta,
            .scaling = rope_scaling,
            .factor = rope_factor,
            .low_frequency = rope_low_freq_factor,
            .high_frequency = rope_high_freq_factor,
            .original_context = rope_original_max_seq_len};
  }
};

class Llama final : public BlockModel {
 public:
  Llama(const LlamaConfig& config, const data::Form& form);

  // With the resolved vocabulary and context.
  const LlamaConfig& config() const noexcept { return config_; }

  // Standard deviation 0.02; norms 1.
  std::vector<SplitRule> split_rules() const override;
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;

 private:
  LlamaConfig config_;
};

}  // namespace trireme::model
