// Flat tensors in memory that ranks share.
//
// private_flat() is this rank's own, where others can read it; common_flat() is one memory for all
// ranks of a group, whoever writes it.
//
// Lifetime: a private one's as its last tensor's, a common one's as that of the last rank.
// Failure:  Exhausted where there is no memory; common_flat() throws Unsupported where the group's
//           ranks do not share memory, and is a collective.

#pragma once

#include <ATen/core/Tensor.h>

#include "trireme/comm/group.h"

namespace trireme::parallel::data {

// Zeroed, in the arena where there is one.
at::Tensor private_flat(const comm::Group& group, std::int64_t count, at::ScalarType type);

// Zeroed. It goes back with the last rank's tensors; what a dead rank held stays until the job
// ends.
at::Tensor common_flat(const comm::Group& group, std::int64_t count, at::ScalarType type);

}  // namespace trireme::parallel::data
