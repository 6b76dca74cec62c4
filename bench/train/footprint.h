// What this process has taken of the machine's memory, and sent, as the kernel counts it.
//
// Failure: 0 where /proc does not say.
// Threads: any thread.

#pragma once

#include <cstdint>
#include <string>

namespace trireme::bench {

// The most that was ever resident.
std::int64_t peak_bytes();

// Now: pages that n processes share count as 1/n of themselves.
std::int64_t proportional_bytes();

// So far, through an interface of this network namespace, headers included; 0 for "".
std::int64_t bytes_sent(const std::string& interface);

}  // namespace trireme::bench
