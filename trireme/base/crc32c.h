// CRC32C (Castagnoli), the checksum of TFRecord files and of several storage formats.
//
// Threads: pure.

#pragma once

#include <cstdint>

#include "trireme/base/bytes.h"

namespace trireme {

std::uint32_t crc32c(ByteView bytes) noexcept;

}  // namespace trireme
