// Linear is y = x W^T + b, like torch::nn::Linear, with an extension point: if a strategy is
// attached, it computes the product instead (a shard of it on each rank, gathered or reduced).
//
// Thread safety: as torch::nn::Module.
// Lifetime:      the layer shares ownership of its strategy.

#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "trireme/model/context.h"

namespace trireme::model {

class Linear;

class LinearStrategy {
 public:
  virtual ~LinearStrategy() = default;
  // x: (..., inputs); the layer's weight: (outputs, inputs), or the shard that the strategy put
  // there.
  virtual at::Tensor forward(const Linear& layer, const at::Tensor& x, const Context& context) = 0;
};

class Linear : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t inputs = 1;
    std::int64_t outputs = 1;
    bool has_bias = true;
  };

  explicit Linear(const Options& options);
  // Tied: uses the weight of another layer, (outputs, inputs), and no bias.
  explicit Linear(at::Tensor weight);

  at::Tensor forward(const at::Tensor& x, const Context& context) const;

  at::Tensor weight;
  at::Tensor bias;  // undefined if there is none
  std::shared_ptr<LinearStrategy> strategy;
};

}  // namespace trireme::model
