// Functions that assemble a model's values and optimizer state, tensor by tensor, from the pieces
// that ranks hold in whatever shards they have, and write them back.
//
//   const OwnState own{parameters, optimizer.state_names(), old->saved().pieces()};
//   WholeState state = whole_state(own, group);       // the same on every rank
//   write_state(state, next->saved().pieces());
//
// Errors:        what Group throws.
// Thread safety: no shared state; the caller owns the tensors.

#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/comm/group.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

// By name of a piece.
using WholeState = std::map<std::string, at::Tensor>;

// What a rank contributes.
struct OwnState {
  const std::vector<Parameter>& parameters;  // of the model
  const std::vector<std::string>& states;    // of the optimizer, by name
  std::vector<checkpoint::Piece> pieces;     // that this rank holds
};

// Calls `use` for one whole tensor after the other, in the same order on all ranks: the sum or the
// maximum over ranks, where elements that a rank does not hold count as 0 or -infinity.
// A collective.
void reduce_state(const OwnState& own, const comm::Group& group, comm::ReduceOp op,
                  const std::function<void(const std::string&, const at::Tensor&)>& use);

// The state of all ranks together, which differs between none of them. A collective.
WholeState whole_state(const OwnState& own, const comm::Group& group);

// Copies the elements of a whole tensor to the pieces of this name, or those of all tensors.
void write_pieces(const std::string& name, const at::Tensor& whole,
                  const std::vector<checkpoint::Piece>& pieces);
void write_state(const WholeState& state, const std::vector<checkpoint::Piece>& pieces);

}  // namespace trireme::parallel
