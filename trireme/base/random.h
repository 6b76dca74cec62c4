// Random is a random number generator whose output is determined by a seed, a stream number and a
// position. It is based on the pure function in trireme/base/philox.h.
//
// Streams of one seed are independent: use a separate stream for each purpose. Seeking takes
// constant time, so a resumed job continues with exactly the numbers it would have drawn without
// the interruption. Integers and uniform numbers are bitwise identical on every machine; normal()
// calls the C library's log and cos and may differ by their rounding.
//
// Thread safety: a value type, used by one thread at a time; copies continue independently.

#pragma once

#include <cstdint>
#include <limits>

#include "trireme/base/philox.h"

namespace trireme {

class Random {
 public:
  using result_type = std::uint32_t;

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept;

  // The next 32 or 64 random bits.
  std::uint32_t bits32() noexcept;
  std::uint64_t bits64() noexcept;

  // In [0, 1).
  float uniform_float() noexcept { return trireme::uniform_float(bits32()); }
  double uniform_double() noexcept { return trireme::uniform_double(bits64()); }

  // In [0, bound), all values equally likely. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);

  // Mean 0, standard deviation 1.
  double normal() noexcept;

  // The number of 32-bit draws so far. Pass it to seek() of another Random with the same seed and
  // stream to continue from here.
  std::uint64_t position() const noexcept { return position_; }
  void seek(std::uint64_t position) noexcept;

  // Required by <algorithm> and <random>.
  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
  result_type operator()() noexcept { return bits32(); }

 private:
  PhiloxBlock block_at(std::uint64_t position) const noexcept;

  PhiloxKey key_;
  std::uint64_t stream_;
  std::uint64_t position_ = 0;
  PhiloxBlock block_;
};

}  // namespace trireme
