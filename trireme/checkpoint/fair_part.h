// Which part of what several ranks all hold each of them saves: the pieces end to end, cut into
// stretches of equally many bytes, so that nothing is written twice and the work is shared.
//
// Threads: pure; the tensors are referred to.

#pragma once

#include <vector>

#include "trireme/checkpoint/state.h"

namespace trireme::checkpoint {

// Stretch `index` of `count`. Every rank gives pieces of the same names, types, sizes and order;
// the stretches of all of them cover each element once. Pieces without elements are in the first.
std::vector<Piece> fair_part(const std::vector<Piece>& pieces, int index, int count);

}  // namespace trireme::checkpoint
