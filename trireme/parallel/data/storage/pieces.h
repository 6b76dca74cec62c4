// The pieces of a StorageLayout for checkpoints, with their names, shapes and offsets within
// tensors.
//
// Thread safety: a pure function.

#pragma once

#include <string>
#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/parallel/data/storage/layout.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

// Views of the values and the optimizer state that this rank updates. A parameter without elements
// is in no rank's shard; it is included if `has_empty`.
std::vector<checkpoint::Piece> own_pieces(const StorageLayout& layout,
                                          const std::vector<Parameter>& parameters,
                                          const std::vector<std::string>& states, bool has_empty);

}  // namespace trireme::parallel::data
