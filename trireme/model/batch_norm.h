// BatchNorm is batch normalisation of images' channels: by the batch's own mean and variance in
// training, by running ones of all batches otherwise.
//
// A batch is a slot's samples of one rank. Running values change once for each pass that has a
// backward: a first pass of a recomputed block, or one that only looks, leaves them as they are.
//
// Threads: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include "trireme/model/context.h"

namespace trireme::model {

class BatchNorm : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t channels = 1;
    double epsilon = 1e-5;
    double momentum = 0.1;  // share of the newest batch
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
