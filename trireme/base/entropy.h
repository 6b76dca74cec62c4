// Unpredictable random bytes from OpenSSL, which the kernel seeds: for secrets, nonces and names
// that must not collide. Code that must be replayable from a seed uses trireme/base/random.h
// instead.
//
// Thread safety: any thread may call these functions at any time, also after a fork.
// Errors:        Io if OpenSSL has no random bytes (see trireme/base/openssl.h).

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
