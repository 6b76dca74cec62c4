// Ranks as threads of one process: the same code as between processes, over one mapping.
//
// For programs that want several ranks without several processes, and for tests: the thread
// sanitizer sees everything.

#pragma once

#include <vector>

#include "trireme/base/fault.h"
#include "trireme/comm/group.h"

namespace trireme::comm {

// One Group for each rank, to be used by a thread each. REQUIRES: ranks >= 1.
std::vector<Group> connect_threads(int ranks, const Group::Options& options = {},
                                   Faults* faults = nullptr);

}  // namespace trireme::comm
