// Unpredictable random bytes from the kernel, for secrets, nonces and names that must not collide.
// Code that must be replayable from a seed uses trireme/base/random.h instead.
//
// Thread safety: any thread may call these functions at any time.
// Errors:        Unsupported if the kernel has no getrandom(2) or forbids it.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "trireme/base/bytes.h"

namespace trireme {

// Overwrites all of `out`. Blocks only on a machine that has not finished booting.
void secure_random(std::span<std::byte> out);

Bytes secure_random(std::size_t size);

// `size` bytes as 2 * size hexadecimal digits, for names.
std::string secure_random_hex(std::size_t size);

}  // namespace trireme
