// saved_pieces() decides which of the pieces that it holds each rank saves. Ranks that hold the
// same piece share the work, and a piece that only one rank holds is saved by that rank. No
// element is written twice, whatever the synchronization strategy and the layouts: tensor-parallel
// ranks hold different shards of some parameters and the same replicas of others. The strategy may
// cut these replicas at different elements, because it divides what each rank holds; one rank of
// each replica saves them.
//
// Errors:        what Group throws.
// Thread safety: one thread per rank. A collective: every rank calls it at the same step.

#pragma once

#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/comm/group.h"

namespace trireme::train {

// The pieces that this rank saves. Over all ranks, every element occurs exactly once. A rank that
// holds nothing saves nothing. `is_first_holder`: among the ranks that hold the same blocks of a
// replica. REQUIRES: the pieces that two ranks hold of a tensor, both of them first holders or both
// holding shards of it, are equal or do not overlap.
std::vector<checkpoint::Piece> saved_pieces(std::vector<checkpoint::Piece> held,
                                            const comm::Group& group, bool is_first_holder);

}  // namespace trireme::train
