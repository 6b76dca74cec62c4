// Random bytes that nobody can guess, from the kernel: secrets, nonces and names that must not
// collide. Anything that has to replay from a seed uses trireme/base/random.h instead.
//
// Threads: any thread at any time.
// Failure: Unsupported where the kernel has no getrandom(2) or forbids it.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "trireme/base/bytes.h"

namespace trireme {

// Overwrites all of `out`. Waits only on a machine that has not finished booting.
void secure_random(std::span<std::byte> out);

Bytes secure_random(std::size_t size);

// `size` bytes as 2 * size hexadecimal digits, for names.
std::string secure_random_hex(std::size_t size);

}  // namespace trireme
