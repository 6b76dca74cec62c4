// The pieces of a Layout as checkpoints know them: by name, shape and place within the tensor.

#pragma once

#include <string>
#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/comm/group.h"
#include "trireme/parallel/data/layout.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

// Values and optimizer state that this rank updates, as views.
std::vector<checkpoint::Piece> own_pieces(const Layout& layout,
                                          const std::vector<Parameter>& parameters,
                                          const std::vector<std::string>& states);

// All of it on rank 0, nothing elsewhere: views where rank 0 has the whole, copies where it had
// to be gathered. A collective.
std::vector<checkpoint::Piece> collect_pieces(const Layout& layout, const comm::Group& group,
                                              const std::vector<Parameter>& parameters,
                                              const std::vector<std::string>& states);

}  // namespace trireme::parallel::data
