// Flat tensors in memory that ranks share.
//
// private_flat() is this rank's own, where others can read it; common_flat() is one memory for all
// ranks that give the same name, whoever writes it.
//
// Lifetime: a private one's as its last tensor's, a common one's as that of the last of its users.
// Failure:  Exhausted where there is no memory; common_flat() throws Unsupported where the group's
//           ranks do not share memory.

#pragma once

#include <ATen/core/Tensor.h>

#include "trireme/comm/group.h"

namespace trireme::parallel::data {

// Zeroed, in the arena where there is one.
at::Tensor private_flat(const comm::Group& group, std::int64_t count, at::ScalarType type);

// Zeroed where nobody has it yet. It goes back with the tensors of its last user; what a dead rank
// held stays until the job ends. `users` 0: it stays in any case, for those who may still come.
at::Tensor common_flat(const comm::Group& group, std::uint64_t name, std::int64_t count,
                       at::ScalarType type, int users);

}  // namespace trireme::parallel::data
