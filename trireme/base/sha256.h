// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), for proofs of identity and for comparing what
// ranks were given. Made for control traffic; bulk data wants a faster, weaker checksum.
//
// Threads:  a Sha256 is a value, used by one thread at a time; the functions are pure.
// Failure:  none.

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

  // Appends to the message; any division of a message into pieces gives the same digest.
  Sha256& update(ByteView bytes) noexcept;

  // The digest of everything so far. The message may go on afterwards.
  Sha256Digest digest() const noexcept;

 private:
  static constexpr std::size_t kBlockSize = 64;

  std::array<std::uint32_t, 8> state_;
  std::array<std::byte, kBlockSize> block_;
  std::uint64_t size_ = 0;
};

Sha256Digest sha256(ByteView message) noexcept;

// Proves knowledge of `key` (any length, 32 bytes are right) to whoever has it too.
Sha256Digest hmac_sha256(ByteView key, ByteView message) noexcept;

// Whether a and b are equal, in a time that depends on their sizes only: compare secrets and
// proofs with this, never with ==, which tells a stranger how many bytes were right.
bool equal_in_constant_time(ByteView a, ByteView b) noexcept;

}  // namespace trireme
