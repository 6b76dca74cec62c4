// CRC32C (Castagnoli), the checksum used by TFRecord files and by several storage formats.
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <cstdint>

#include "trireme/base/bytes.h"

namespace trireme {

std::uint32_t crc32c(ByteView bytes) noexcept;

}  // namespace trireme
