// Functions that assemble a model's values and optimizer state, tensor by tensor, from the pieces
// that ranks hold, and write them back.
//
//   for (const StateTensor& one : tensors_of(parameters, states)) {
//     at::Tensor whole = whole_of(one, own.pieces(), 0);   // 0 where this rank has no element
//     ... sum `whole` over all ranks
//     write_pieces(one.name, whole, own.pieces());
//   }
//
// Thread safety: no shared state; the caller owns the tensors.

#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

struct StateTensor {
  std::string name;  // that of its pieces
  at::Tensor like;   // the parameter, for shape and type
};

// In the same order on all ranks: the values, then one optimizer state after the other.
std::vector<StateTensor> tensors_of(const std::vector<Parameter>& parameters,
                                    const std::vector<std::string>& states);

// The whole tensor; elements that no piece contains are `rest`.
at::Tensor whole_of(const StateTensor& one, const std::vector<checkpoint::Piece>& pieces,
                    double rest);

// Copies the elements of `whole` to the pieces of this name.
void write_pieces(const std::string& name, const at::Tensor& whole,
                  const std::vector<checkpoint::Piece>& pieces);

}  // namespace trireme::parallel
