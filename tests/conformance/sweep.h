// conformance_sweep() runs every case of the suite in one world, once per rank, so that a transport
// with real processes is tested without starting them a hundred times.
//
// Errors: returns the failures on this rank, one per line; empty if there are none. If a case
// throws, the other ranks are notified and continue with the next case.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/case.h"

namespace trireme::comm::conformance {

// All cases, in the order of a sweep.
std::vector<Case> all_cases();

// Runs one case in a sub-group of all ranks, so that an exception ends the case but not the sweep.
std::string run_case(const Group& group, const Case& one);

std::string conformance_sweep(const Group& group);

// Whether transports with real processes are tested in worlds of every size: with
// TRIREME_TEST_ALL=1, as `make soak` sets it. `make test` uses a few sizes.
bool runs_all_worlds();

}  // namespace trireme::comm::conformance
