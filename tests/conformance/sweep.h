// conformance_sweep() runs every case of the suite in one world, once a rank: how a transport of
// real processes is tested without starting them a hundred times.
//
// Failure: returns what went wrong on this rank, one complaint a line, empty when nothing did. A
//          case that throws is told to the other ranks, which go on with the next case.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/case.h"

namespace trireme::comm::conformance {

// Every case, in the order of a sweep.
std::vector<Case> all_cases();

// Runs one case in a sub-group of all ranks, so that an exception ends the case and not the sweep.
std::string run_case(const Group& group, const Case& one);

std::string conformance_sweep(const Group& group);

// Complaints of several ranks as a test says them. Where something is wrong besides, lateness is no
// reason for a second chance (in_time.h).
std::string as_failure(std::string complaints);

}  // namespace trireme::comm::conformance
