// Which of the pieces that ranks hold each of them saves. Ranks that hold the same pieces share the
// work; what one alone holds it saves alone. So nothing is written twice, whatever the agreement.
//
// Threads: one a rank. A collective: every rank calls it at the same step.

#pragma once

#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/comm/group.h"

namespace trireme::train {

// With all other ranks' every element is there once. REQUIRES: what two ranks hold of a tensor is
// the same piece of it, or has nothing in common; who holds nothing gets nothing to save.
std::vector<checkpoint::Piece> saved_pieces(const std::vector<checkpoint::Piece>& held,
                                            const comm::Group& group);

}  // namespace trireme::train
