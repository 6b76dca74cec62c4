// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), for authentication and for comparing the inputs
// of ranks. Intended for control traffic; use a faster checksum for bulk data.
//
// Thread safety: a Sha256 is a value, used by one thread at a time; the functions are pure.
// Errors:        none are thrown.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trireme/base/bytes.h"

namespace trireme {

using Sha256Digest = std::array<std::byte, 32>;

class Sha256 {
 public:
  Sha256() noexcept;

  // Appends to the message. The digest does not depend on how the message is split into pieces.
  Sha256& update(ByteView bytes) noexcept;

  // The digest of everything so far. More data may be appended afterwards.
  Sha256Digest digest() const noexcept;

 private:
  static constexpr std::size_t kBlockSize = 64;

  std::array<std::uint32_t, 8> state_;
  std::array<std::byte, kBlockSize> block_;
  std::uint64_t size_ = 0;
};

Sha256Digest sha256(ByteView message) noexcept;

// Proves knowledge of `key` to a verifier that has the same key. Any length works; use 32 bytes.
Sha256Digest hmac_sha256(ByteView key, ByteView message) noexcept;

// Compares a and b in a time that depends only on their sizes. Use it for secrets and proofs: the
// duration of == reveals how many leading bytes match.
bool equal_in_constant_time(ByteView a, ByteView b) noexcept;

}  // namespace trireme
