// The pieces of a Layout as checkpoints know them: by name, shape and place within the tensor.

#pragma once

#include <string>
#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/parallel/data/layout.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

// Values and optimizer state that this rank updates, as views. A parameter without elements is in
// nobody's slice: whoever `has_empty` has it.
std::vector<checkpoint::Piece> own_pieces(const Layout& layout,
                                          const std::vector<Parameter>& parameters,
                                          const std::vector<std::string>& states, bool has_empty);

}  // namespace trireme::parallel::data
