// sum_over_ranks() adds a tensor up over all ranks, as an operation that autograd knows: what every
// rank's loss owes to the sum comes back to each share of it.
//
// A collective, in forward and in backward: all ranks call it, in the same order. Give it a group
// of its own where other operations run beside it.
//
// Failure: what Group throws.

#pragma once

#include <ATen/core/Tensor.h>

#include "trireme/comm/group.h"

namespace trireme::parallel {

at::Tensor sum_over_ranks(const at::Tensor& share, const comm::Group& group);

}  // namespace trireme::parallel
