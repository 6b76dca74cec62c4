// Attention is causal self-attention of several heads, with a seam: a strategy, where one is
// attached, runs the heart of it (queries, keys and values over ranks that hold pieces of the
// sequence). The projections before and after are Linears, with seams of their own; how many heads
// there are here follows from how many of their outputs are.
//
// Threads:  as torch::nn::Module.
// Lifetime: the layer shares its strategy.

#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "trireme/model/context.h"
#include "trireme/model/linear.h"

namespace trireme::model {

class AttentionStrategy {
 public:
  virtual ~AttentionStrategy() = default;
  // Each (B, H, T, D); the answer too.
  virtual at::Tensor attend(const at::Tensor& queries, const at::Tensor& keys,
                            const at::Tensor& values, const Context& context) = 0;
};

class Attention : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t width = 1;
    std::int64_t heads = 1;
    bool has_bias = true;
    int layer = 0;       // which of a model's, for the cache and for dropout
    double dropout = 0;  // of the weights with which a token looks at others, in training
  };

  explicit Attention(const Options& options);

  // x: (B, T, width).
  at::Tensor forward(const at::Tensor& x, const Context& context) const;

  std::int64_t head_width() const noexcept { return head_width_; }

  std::shared_ptr<Linear> c_attn;  // width -> queries, keys, values
  std::shared_ptr<Linear> c_proj;
  std::shared_ptr<AttentionStrategy> strategy;

 private:
  at::Tensor attend(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                    const Context& context) const;
  at::Tensor attend_dropping(const at::Tensor& queries, const at::Tensor& keys,
                             const at::Tensor& values, const Context& context) const;

  std::int64_t head_width_;
  int layer_;
  double dropout_;
};

}  // namespace trireme::model
