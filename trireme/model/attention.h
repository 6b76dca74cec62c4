// Attention is self-attention of several heads, causal unless it is told otherwise, with a seam: a
// strategy, where one is attached, runs the heart of it (queries, keys and values over ranks that
// hold pieces of the sequence). The projections before and after are Linears, with seams of their
// own; how many heads there are here follows from how many of their outputs are.
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
  // As attend() takes them.
  virtual at::Tensor attend(const at::Tensor& queries, const at::Tensor& keys,
                            const at::Tensor& values, const Context& context) = 0;
};

struct AttendOptions {
  int layer = 0;  // which of a model's, for the cache and for dropout
  bool is_causal = true;
  double dropout = 0;  // of the weights with which a token looks at others, in training
};

// The heart of it, without a strategy. Queries (B, H, T, D); keys and values (B, K, T, D), each of
// their heads for H / K of the queries'; the answer as the queries.
at::Tensor attend(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                  const AttendOptions& options, const Context& context);

class Attention : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t width = 1;
    std::int64_t heads = 1;
    bool has_bias = true;
    int layer = 0;       // which of a model's, for the cache and for dropout
    double dropout = 0;  // of the weights with which a token looks at others, in training
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
