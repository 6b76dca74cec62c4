// Divides replicated state among the ranks that hold it, for saving: the pieces are concatenated
// and cut into ranges of equal size in bytes, so that nothing is written twice and every rank
// writes the same amount.
//
// Thread safety: pure; the returned pieces share the tensors' memory.

#pragma once

#include <vector>

#include "trireme/checkpoint/state.h"

namespace trireme::checkpoint {

// Returns range `index` of `count`. Every rank passes pieces with the same names, types, sizes and
// order; the ranges of all ranks together cover each element exactly once. Pieces without elements
// belong to the first range.
std::vector<Piece> fair_part(const std::vector<Piece>& pieces, int index, int count);

}  // namespace trireme::checkpoint
