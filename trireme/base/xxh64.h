// XXH64, the 64-bit xxHash of Yann Collet: a checksum for bulk data at the speed of memory. It
// finds damage, not forgery: whoever fears a forger uses trireme/base/sha256.h.
//
// Threads: an Xxh64 is a value, used by one thread at a time; the function is pure.
// Failure: none.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trireme/base/bytes.h"

namespace trireme {

class Xxh64 {
 public:
  explicit Xxh64(std::uint64_t seed = 0) noexcept;

  // Appends to the message; any division of a message into pieces gives the same digest.
  Xxh64& update(ByteView bytes) noexcept;

  // The digest of everything so far. The message may go on afterwards.
  std::uint64_t digest() const noexcept;

 private:
  static constexpr std::size_t kStripeSize = 32;

  void mix(const std::byte* stripe) noexcept;

  std::uint64_t seed_;
  std::array<std::uint64_t, 4> lanes_;
  std::array<std::byte, kStripeSize> rest_;  // what did not fill a stripe yet
  std::uint64_t size_ = 0;
};

std::uint64_t xxh64(ByteView message, std::uint64_t seed = 0) noexcept;

}  // namespace trireme
