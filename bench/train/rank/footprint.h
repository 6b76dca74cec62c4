// The memory that this process uses and the bytes that it sends, as the kernel counts them.
//
// Errors:        returns 0 if /proc does not contain the value.
// Thread safety: any thread.

#pragma once

#include <cstdint>
#include <string>

namespace trireme::bench {

// The peak resident set size.
std::int64_t peak_bytes();

// The current proportional set size: a page that n processes share counts as 1/n.
std::int64_t proportional_bytes();

// Bytes sent so far through an interface of this network namespace, including headers; 0 for "".
std::int64_t bytes_sent(const std::string& interface);

}  // namespace trireme::bench
