// Flat tensors in the shared memory of a host.
//
// private_flat() creates a tensor of this rank that other ranks can read; common_flat() creates one
// tensor for all ranks that use the same name, and any of them may write it.
//
// Errors:        Exhausted if there is no memory; common_flat() throws Unsupported if the group's
//                ranks do not share memory.
// Thread safety: as Arena.
// Lifetime:      private memory lives as long as its last tensor; common memory as long as the
//                tensors of its last user.

#pragma once

#include <ATen/core/Tensor.h>

#include "trireme/comm/group.h"

namespace trireme::parallel::data {

// Zeros, in the arena if the group has one.
at::Tensor private_flat(const comm::Group& group, std::int64_t count, at::ScalarType type);

// Zeros if no rank has created it yet. It is freed with the tensors of the last of `users` users;
// if a user dies, it stays until the job ends. `users` 0: it is never freed, for ranks that may
// still join.
at::Tensor common_flat(const comm::Group& group, std::uint64_t name, std::int64_t count,
                       at::ScalarType type, int users);

}  // namespace trireme::parallel::data
