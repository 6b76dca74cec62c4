// Linear is y = x W^T + b, like torch::nn::Linear, with adapters (adapter.h).
//
// Thread safety: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "trireme/model/context.h"
#include "trireme/model/layer/adapter.h"

namespace trireme::model {

// x: (..., inputs), weight: (outputs, inputs), bias: (outputs) or undefined; returns (...,
// outputs). Uses the context's homes and copies of the weight.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const Context& context);

class Linear;

// The layer, then GELU with the tanh approximation.
at::Tensor linear_gelu(const Linear& layer, const at::Tensor& x, const Context& context);

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

  // x: (..., inputs); returns (..., outputs).
  at::Tensor forward(const at::Tensor& x, const Context& context) const {
    return Adapter<Linear>::Next(*this, context)(x);
  }
  // The same without adapters.
  at::Tensor compute(const at::Tensor& x, const Context& context) const {
    return linear(x, weight, bias, context);
  }

  at::Tensor weight;
  at::Tensor bias;  // undefined if there is none
  // Where tensor parallelism cuts the outputs: the first one that this rank computes.
  std::int64_t first_output = 0;
  std::vector<std::shared_ptr<Adapter<Linear>>> adapters;
};

}  // namespace trireme::model
