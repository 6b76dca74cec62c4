// Norm is layer normalization over the last dim, or RMS normalization, which does not subtract the
// mean, with an extension point: if a strategy is attached, it does the normalization instead (a
// sequence sharded over ranks).
//
// Thread safety: as torch::nn::Module.
// Lifetime:      the layer shares ownership of its strategy.

#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "trireme/model/context.h"

namespace trireme::model {

class Norm;

class NormStrategy {
 public:
  virtual ~NormStrategy() = default;
  virtual at::Tensor forward(const Norm& layer, const at::Tensor& x, const Context& context) = 0;
};

class Norm : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t width = 1;
    bool has_bias = true;
    double epsilon = 1e-5;
    bool is_rms = false;
  };

  explicit Norm(const Options& options);

  at::Tensor forward(const at::Tensor& x, const Context& context) const;

  double epsilon;
  bool is_rms;
  at::Tensor weight;
  at::Tensor bias;  // undefined if there is none
  std::shared_ptr<NormStrategy> strategy;
};

}  // namespace trireme::model
