// Compression of one chunk with zstd. In a build without zstd, stub.cpp throws instead.
//
// Errors:        Unsupported in a build without zstd. expand() throws Corrupt if the bytes do not
//                expand to exactly `out.size()` bytes.
// Thread safety: pure functions.

#pragma once

#include <cstddef>
#include <span>

#include "trireme/base/bytes.h"

namespace trireme::checkpoint::format::zstd {

// Throws Unsupported with a remedy if this build has no zstd.
void expect_zstd();

// Returns the compressed bytes, or `raw` itself if compression does not make it smaller.
Bytes squeeze(ByteView raw, int level);

// The inverse of squeeze(). If `squeezed` and `out` have the same size, the bytes are not
// compressed.
void expand(ByteView squeezed, std::span<std::byte> out);

}  // namespace trireme::checkpoint::format::zstd
