// Random is a stream of numbers that a seed, a stream number and a position determine: an
// ordinary generator over the pure function in trireme/base/philox.h.
//
// Streams of one seed are independent: give each purpose its own. Seeking is free, so a resumed
// job goes on with the very numbers that it would have drawn. Integers and uniforms are the same
// bits on every machine; normal() calls the C library's log and cos and is so up to their
// rounding.
//
// Threads: a value, used by one thread at a time; copies go on independently.

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

  // In [0, bound), each equally likely. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);

  // Mean 0, deviation 1.
  double normal() noexcept;

  // How many times 32 bits were drawn; seek() to it in another Random of the same seed and stream
  // to continue there.
  std::uint64_t position() const noexcept { return position_; }
  void seek(std::uint64_t position) noexcept;

  // What <algorithm> and <random> ask of a generator.
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
