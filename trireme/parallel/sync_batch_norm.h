// SyncBatchNorm is torch::nn::BatchNorm over the samples of all ranks: a batch on N ranks is
// normalized as on one rank, even if the ranks have different numbers of samples.
//
//   norm = register_module("norm", std::make_shared<SyncBatchNorm>(group, {.features = 64}));
//
// Parameters and buffers have the names of torch::nn::BatchNorm's, so checkpoints fit both.
//
// In training, forward and backward are collectives: every rank runs them, and at least one rank
// must have a sample. In evaluation there is no communication.
//
// Errors:        what Group throws; Misuse if the input's channel dimension has another size.
// Thread safety: as torch::nn::Module.

#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include "trireme/comm/group.h"

namespace trireme::parallel {

// Sums a tensor over all ranks as an autograd operation: in backward, the gradients of all ranks'
// losses with respect to the sum are added up and passed to each rank's tensor. A collective, in
// forward and in backward. Use a separate group if other operations run at the same time.
at::Tensor sum_over_ranks(const at::Tensor& share, const comm::Group& group);

class SyncBatchNorm : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t features = 1;
    double eps = 1e-5;
    double momentum = 0.1;  // of the running statistics
  };
  SyncBatchNorm(const comm::Group& group, const Options& options);

  // (N, C) or (N, C, ...).
  at::Tensor forward(const at::Tensor& input);

  at::Tensor weight, bias;
  at::Tensor running_mean, running_var, num_batches_tracked;

 private:
  at::Tensor normalized(const at::Tensor& input, const at::Tensor& mean,
                        const at::Tensor& variance) const;
  void track(const at::Tensor& mean, const at::Tensor& variance, double count);

  comm::Group group_;
  Options options_;
};

}  // namespace trireme::parallel
