// The blocks of a Gpt: embedding of tokens and positions, attention, mlp, and the last norm with
// the head. Each uses its own layer number for dropout.
//
// Thread safety: as Block.

#pragma once

#include <memory>

#include "trireme/model/block.h"
#include "trireme/model/gpt/gpt_config.h"
#include "trireme/model/layer/attention.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/layer/norm.h"

namespace trireme::model {

// Tokens, int64 (B, T), to (B, T, width).
class GptEmbedding final : public Block {
 public:
  explicit GptEmbedding(const GptConfig& config);
  Activations forward(Activations in, const Context& context) override;
  double forward_flops(const data::Form&) const override { return 0; }

  const at::Tensor& table() const noexcept { return wte->weight; }

  std::shared_ptr<Embedding> wte, wpe;

 private:
  std::int64_t context_;
  double dropout_;
};

class GptAttention final : public Block {
 public:
  GptAttention(const GptConfig& config, int layer);
  Activations forward(Activations in, const Context& context) override;
  double forward_flops(const data::Form& form) const override;

  std::shared_ptr<Norm> ln_1;
  std::shared_ptr<Attention> attn;

 private:
  double dropout_;
  int layer_;
};

class GptMlp final : public Block {
 public:
  GptMlp(const GptConfig& config, int layer);
  Activations forward(Activations in, const Context& context) override;

  std::shared_ptr<Norm> ln_2;
  std::shared_ptr<Linear> c_fc, c_proj;

 private:
  double dropout_;
  int layer_;
};

// (B, T, width) to logits (B, T, vocabulary).
class GptHead final : public Block {
 public:
  // `table` is the tied weight; undefined if the head has its own.
  GptHead(const GptConfig& config, const at::Tensor& table);
  Activations forward(Activations in, const Context& context) override;

  std::shared_ptr<Norm> ln_f;
  std::shared_ptr<Linear> lm_head;
};

}  // namespace trireme::model
