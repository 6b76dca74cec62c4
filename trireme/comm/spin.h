// Policy for how long a rank spins before it sleeps.
//
// Waking a sleeping peer takes about 25 microseconds, so spinning for a short time pays off, but
// only if every rank has its own core. Otherwise the spinning rank delays the rank that it waits
// for.

#pragma once

#include <chrono>

namespace trireme::comm {

// Whether this number of ranks on one host must share its cores.
bool is_crowded(int ranks) noexcept;

// For `ranks` ranks of one host.
std::chrono::microseconds spin_for(int ranks) noexcept;

}  // namespace trireme::comm
