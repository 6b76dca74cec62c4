// Moves the weights and the optimizer state of whole replicas between ranks.
//
// The ranks of a replica may hold different parts of it: tensors are exchanged whole, one after the
// other, over the group of all ranks.
//
// Errors:        what Group throws.
// Thread safety: one thread. Every function but write_state() is a collective.

#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "trireme/parallel/replica.h"

namespace trireme::parallel::local {

// By name of a piece.
using ReplicaState = std::map<std::string, at::Tensor>;

// Broadcasts a tensor to the ranks with is_given. The other ranks take part in the collective, but
// keep their own values.
void give(const comm::Group& group, const at::Tensor& tensor, int source, bool is_given);

// Copies the weights and the optimizer state of the source's replica to the ranks with is_given.
void give_state(const Replica& replica, int source, bool is_given);

// The mean of values and optimizer state over all replicas.
ReplicaState mean_state(const Replica& replica);
// Overwrites this rank's part.
void write_state(const Replica& replica, const ReplicaState& state);

}  // namespace trireme::parallel::local
