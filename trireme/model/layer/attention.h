// Attention is multi-head self-attention, causal by default, with an extension point: if a strategy
// is attached, it runs the core of it (queries, keys and values over ranks that hold pieces of the
// sequence). The projections before and after are Linears, with extension points of their own; the
// number of heads on this rank follows from the number of their outputs.
//
// Thread safety: as torch::nn::Module.
// Lifetime:      the layer shares ownership of its strategy.

#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "trireme/model/context.h"
#include "trireme/model/layer/linear.h"

namespace trireme::model {

class AttentionStrategy {
 public:
  virtual ~AttentionStrategy() = default;
  // The same arguments as attend().
  virtual at::Tensor attend(const at::Tensor& queries, const at::Tensor& keys,
                            const at::Tensor& values, const Context& context) = 0;
};

struct AttendOptions {
  int layer = 0;  // layer number in the model, for the cache and for dropout
  bool is_causal = true;
  double dropout = 0;  // probability of dropping an attention weight, in training
  // Where tensor parallelism cuts the heads: the first one that this rank computes.
  std::int64_t first_head = 0;
};

// Scaled dot-product attention without a strategy. Queries (B, H, T, D); keys and values (B, K, T,
// D), each head shared by H / K query heads. The result has the shape of the queries.
at::Tensor attend(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                  const AttendOptions& options, const Context& context);

class Attention : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t width = 1;
    std::int64_t heads = 1;
    bool has_bias = true;
    int layer = 0;       // layer number in the model, for the cache and for dropout
    double dropout = 0;  // probability of dropping an attention weight, in training
    bool is_causal = true;
  };

  explicit Attention(const Options& options);

  // x: (B, T, width).
  at::Tensor forward(const at::Tensor& x, const Context& context) const;

  std::int64_t head_width() const noexcept { return head_width_; }

  std::shared_ptr<Linear> c_attn;  // width -> queries, keys, values
  std::shared_ptr<Linear> c_proj;
  std::shared_ptr<AttentionStrategy> strategy;

 private:
  std::int64_t head_width_;
  AttendOptions how_;
};

}  // namespace trireme::model
