// Compression of one chunk with zstd; without zstd in the build, stub.cpp says so.
//
// Threads: pure.
// Failure: Unsupported in a build without zstd. expand() throws Corrupt where the bytes are not
//          those of exactly `out.size()` others.

#pragma once

#include <cstddef>
#include <span>

#include "trireme/base/bytes.h"

namespace trireme::checkpoint::format::zstd {

// Throws Unsupported with a remedy unless this build can.
void expect_zstd();

// The compressed bytes, or `raw` itself where that is no larger.
Bytes squeeze(ByteView raw, int level);

// The other way: bytes as many as `out` are raw.
void expand(ByteView squeezed, std::span<std::byte> out);

}  // namespace trireme::checkpoint::format::zstd
