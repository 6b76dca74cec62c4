// Values and optimizer state of a model, one whole tensor after the other, where ranks hold them in
// pieces.
//
//   for (const StateTensor& one : tensors_of(parameters, states)) {
//     at::Tensor whole = whole_of(one, own.pieces(), 0);   // 0 where this rank has no element
//     ... all ranks add theirs up
//     write_pieces(one.name, whole, own.pieces());
//   }
//
// Threads: pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

struct StateTensor {
  std::string name;  // as that of its pieces
  at::Tensor like;   // the parameter
};

// In one order on all ranks: the values, then one state after the other.
std::vector<StateTensor> tensors_of(const std::vector<Parameter>& parameters,
                                    const std::vector<std::string>& states);

// Elements that are in none of the pieces are `rest`.
at::Tensor whole_of(const StateTensor& one, const std::vector<checkpoint::Piece>& pieces,
                    double rest);

// Those of that name become what they are of the whole.
void write_pieces(const std::string& name, const at::Tensor& whole,
                  const std::vector<checkpoint::Piece>& pieces);

}  // namespace trireme::parallel
