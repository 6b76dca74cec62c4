// Runs ranks as threads of one process. They use the same code as processes, over one mapping.
//
// For programs that need several ranks in one process, and for tests, where the thread sanitizer
// can then check all ranks.

#pragma once

#include <vector>

#include "trireme/base/fault.h"
#include "trireme/comm/group.h"

namespace trireme::comm {

// Returns one Group per rank; each must be used by its own thread. REQUIRES: ranks >= 1.
std::vector<Group> connect_threads(int ranks, const Group::Options& options = {},
                                   Faults* faults = nullptr);

}  // namespace trireme::comm
