// XXH64, the 64-bit xxHash of Yann Collet: a checksum for bulk data at memory speed. It detects
// damage but not forgery; use trireme/base/hash/sha256.h against forgery.
//
// Thread safety: an Xxh64 is a value, used by one thread at a time; the function is pure.
// Errors:        none are thrown.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trireme/base/bytes.h"

namespace trireme {

class Xxh64 {
 public:
  explicit Xxh64(std::uint64_t seed = 0) noexcept;

  // Appends to the message. The digest does not depend on how the message is split into pieces.
  Xxh64& update(ByteView bytes) noexcept;

  // The digest of everything so far. More data may be appended afterwards.
  std::uint64_t digest() const noexcept;

 private:
  static constexpr std::size_t kStripeSize = 32;

  void mix(const std::byte* stripe) noexcept;

  std::uint64_t seed_;
  std::array<std::uint64_t, 4> lanes_;
  std::array<std::byte, kStripeSize> rest_;  // input that does not yet fill a stripe
  std::uint64_t size_ = 0;
};

std::uint64_t xxh64(ByteView message, std::uint64_t seed = 0) noexcept;

}  // namespace trireme
