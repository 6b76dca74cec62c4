// The blocks of a Llama. The first one also computes the angles of the text's positions, which the
// attention blocks read as a named activation.
//
// Thread safety: as Block.

#pragma once

#include <memory>

#include "trireme/model/block.h"
#include "trireme/model/layer/attention.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/layer/norm.h"
#include "trireme/model/llama/llama_config.h"

namespace trireme::model {

// Tokens, int64 (B, T), to (B, T, width).
class LlamaEmbedding final : public Block {
 public:
  explicit LlamaEmbedding(const LlamaConfig& config);
  Activations forward(Activations in, const Context& context) override;
  double forward_flops(const data::Form&) const override { return 0; }

  const at::Tensor& table() const noexcept { return embed_tokens->weight; }

  std::shared_ptr<Embedding> embed_tokens;

 private:
  std::int64_t context_;
  std::vector<double> frequencies_;
};

class LlamaAttention final : public Block {
 public:
  LlamaAttention(const LlamaConfig& config, int layer);
  Activations forward(Activations in, const Context& context) override;
  double forward_flops(const data::Form& form) const override;

  std::shared_ptr<Norm> input_layernorm;
  std::shared_ptr<Linear> q_proj, k_proj, v_proj, o_proj;
  std::shared_ptr<AttentionStrategy> strategy;

 private:
  std::int64_t head_width_;
  int layer_;
};

// down(silu(gate(x)) * up(x)).
class LlamaMlp final : public Block {
 public:
  explicit LlamaMlp(const LlamaConfig& config);
  Activations forward(Activations in, const Context& context) override;

  std::shared_ptr<Norm> post_attention_layernorm;
  std::shared_ptr<Linear> gate_proj, up_proj, down_proj;
};

// (B, T, width) to logits (B, T, vocabulary).
class LlamaHead final : public Block {
 public:
  // `table` is the tied weight; undefined if the head has its own.
  LlamaHead(const LlamaConfig& config, const at::Tensor& table);
  Activations forward(Activations in, const Context& context) override;

  std::shared_ptr<Norm> norm;
  std::shared_ptr<Linear> lm_head;
};

}  // namespace trireme::model
