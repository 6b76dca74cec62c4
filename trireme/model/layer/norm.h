// Norm is layer normalization over the last dim, or RMS normalization, which does not subtract the
// mean, with adapters (adapter.h).
//
// Thread safety: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <utility>
#include <vector>

#include "trireme/model/context.h"
#include "trireme/model/layer/adapter.h"

namespace trireme::model {

class Norm : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t width = 1;
    bool has_bias = true;
    double epsilon = 1e-5;
    bool is_rms = false;
  };

  explicit Norm(const Options& options);

  at::Tensor forward(const at::Tensor& x, const Context& context) const {
    return Adapter<Norm>::Next(*this, context)(x);
  }
  // x and forward(x), for a block that adds to x what it computes from its norm. On a GPU in
  // bfloat16 the gradients of both are added where that of the norm is computed.
  std::pair<at::Tensor, at::Tensor> split(const at::Tensor& x, const Context& context) const;
  // The same as forward() without adapters.
  at::Tensor compute(const at::Tensor& x, const Context& context) const;

  double epsilon;
  bool is_rms;
  at::Tensor weight;
  at::Tensor bias;  // undefined if there is none
  std::vector<std::shared_ptr<Adapter<Norm>>> adapters;

 private:
  bool is_in_one_kernel(const at::Tensor& x) const;
};

}  // namespace trireme::model
