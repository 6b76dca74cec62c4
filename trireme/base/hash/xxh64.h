// XXH64, the 64-bit hash of the xxHash library: a checksum for bulk data at memory speed. It
// detects damage but not forgery; use trireme/base/hash/sha256.h against forgery.
//
// Thread safety: a pure function.
// Errors:        none are thrown.

#pragma once

#include <cstdint>

#include "trireme/base/bytes.h"

namespace trireme {

std::uint64_t xxh64(ByteView message, std::uint64_t seed = 0) noexcept;

}  // namespace trireme
