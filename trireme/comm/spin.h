// How long a rank should spin before it sleeps: pure policy.
//
// A sleeping peer costs a wake-up of some 25 microseconds, so waiting a little pays; but only
// where every rank has a core of its own. Otherwise the spinner holds up the very rank that it
// waits for.

#pragma once

#include <chrono>

namespace trireme::comm {

// Whether so many ranks of a host must share its cores.
bool is_crowded(int ranks) noexcept;

// For `ranks` ranks of one host.
std::chrono::microseconds spin_for(int ranks) noexcept;

}  // namespace trireme::comm
