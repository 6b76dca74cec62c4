// The header of a message between ranks, and its checksum.
//
// TCP already detects noise on the wire. The header's checksum detects a stream that is out of
// sync, so that a wrong length causes an error instead of an invalid read. The payload checksum is
// optional, for networks with unreliable hardware.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trireme/base/bytes.h"

namespace trireme::comm::tcp {

inline constexpr std::uint32_t kMagic = 0x314d4354;  // "TCM1"

enum class WireKind : std::uint8_t {
  Data = 1,
  Announce = 2,  // an error for the group: code in `channel`, the rank it is about in `sequence`
  Bye = 3,       // this rank leaves normally; nothing follows
};

struct WireHeader {
  std::uint32_t magic = kMagic;
  WireKind kind = WireKind::Data;
  std::uint8_t has_checksum = 0;
  std::uint16_t reserved = 0;
  std::uint64_t group = 0;
  std::uint64_t sequence = 0;
  std::uint32_t channel = 0;
  std::uint32_t size = 0;
  std::uint32_t payload_check = 0;
  std::uint32_t header_check = 0;  // of all fields before it
};

static_assert(sizeof(WireHeader) == 40);

// Detects accidental corruption, not attacks.
inline std::uint32_t checksum(ByteView bytes) noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15u * (bytes.size() + 1);
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
  }
  std::uint64_t rest = 0;
  if (i < bytes.size()) std::memcpy(&rest, bytes.data() + i, bytes.size() - i);
  hash = (hash ^ rest) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

inline std::uint32_t header_checksum(const WireHeader& header) noexcept {
  return checksum(
      {reinterpret_cast<const std::byte*>(&header), offsetof(WireHeader, header_check)});
}

}  // namespace trireme::comm::tcp
