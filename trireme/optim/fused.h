// What the element-wise rules share: slices handed to one of LibTorch's fused kernels, many at
// once.
//
// The kernels can scale gradients themselves, but then write them back: an update that is run
// again after a failure would scale twice, and all gradients would be written for nothing. So
// where the scale is not 1, gradients go through a small scaled copy that stays in the cache.
//
// Threads: pure.

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trireme/optim/slice.h"

namespace trireme::optim {

// Tensors of slices that share learning rate and weight decay.
struct FusedCall {
  double learning_rate = 0;
  double weight_decay = 0;
  std::vector<at::Tensor> values, gradients;
  std::vector<std::vector<at::Tensor>> state;  // a list for each name
};

// Calls `kernel` until every element of every slice was in a call exactly once.
void for_each_call(std::span<const Slice> slices, std::size_t states, double gradient_scale,
                   const std::function<void(FusedCall&)>& kernel);

}  // namespace trireme::optim
