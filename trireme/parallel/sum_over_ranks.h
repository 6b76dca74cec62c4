// sum_over_ranks() sums a tensor over all ranks as an autograd operation: in backward, the
// gradients of all ranks' losses with respect to the sum are added up and passed to each rank's
// tensor.
//
// A collective, in forward and in backward: all ranks call it in the same order. Use a separate
// group if other operations run at the same time.
//
// Errors:        what Group throws.
// Thread safety: as Group.

#pragma once

#include <ATen/core/Tensor.h>

#include "trireme/comm/group.h"

namespace trireme::parallel {

at::Tensor sum_over_ranks(const at::Tensor& share, const comm::Group& group);

}  // namespace trireme::parallel
