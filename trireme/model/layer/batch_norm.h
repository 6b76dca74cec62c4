// BatchNorm is batch normalization of image channels: with the mean and variance of the batch in
// training, with running statistics over all batches otherwise.
//
// A batch is the samples of one micro-batch on one rank. Running statistics are updated once
// per pass that has a backward: the first pass of a recomputed block and passes without gradients
// do not update them.
//
// Thread safety: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include "trireme/model/context.h"

namespace trireme::model {

class BatchNorm : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t channels = 1;
    double epsilon = 1e-5;
    double momentum = 0.1;  // weight of the newest batch
  };

  explicit BatchNorm(const Options& options);

  // x: (B, channels, H, W).
  at::Tensor forward(const at::Tensor& x, const Context& context) const;

  at::Tensor weight, bias;
  at::Tensor running_mean, running_var;  // buffers

 private:
  Options options_;
};

}  // namespace trireme::model
