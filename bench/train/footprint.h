// What this process has taken of the machine's memory, as the kernel counts it.
//
// Failure: 0 where /proc does not say.
// Threads: any thread.

#pragma once

#include <cstdint>

namespace trireme::bench {

// The most that was ever resident.
std::int64_t peak_bytes();

// Now: pages that n processes share count as 1/n of themselves.
std::int64_t proportional_bytes();

}  // namespace trireme::bench
