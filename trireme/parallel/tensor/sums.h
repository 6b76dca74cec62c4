// The two sums of tensor parallelism, as operations that autograd knows. One of them communicates
// in the forward pass, the other one in the backward pass:
//
//   y = with_summed_gradient(x, group)   before a layer whose outputs are cut: x is the same on all
//                                        ranks, and each of them has a part of its gradient
//   y = summed(x, group)                 after a layer whose inputs are cut: each rank has a part
//   of
//                                        the sum, and the gradient is the same on all ranks
//
// Errors:        what Group throws, also from backward.
// Thread safety: one thread per group.
// Lifetime:      backward keeps a handle to the group.

#pragma once

#include <ATen/core/Tensor.h>

#include "trireme/comm/group.h"

namespace trireme::parallel::tensor {

// x itself; backward sums the gradient over the ranks.
at::Tensor with_summed_gradient(const at::Tensor& x, const comm::Group& group);

// The sum of x over the ranks; backward passes the gradient on. May overwrite x.
at::Tensor summed(const at::Tensor& x, const comm::Group& group);

}  // namespace trireme::parallel::tensor
