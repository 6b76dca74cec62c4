#include "trireme/base/random.h"

#include <cmath>
#include <numbers>

#include "trireme/base/check.h"

namespace trireme {

Random::Random(std::uint64_t seed, std::uint64_t stream) noexcept
    : key_(philox_key(seed)), stream_(stream), block_(block_at(0)) {}

PhiloxBlock Random::block_at(std::uint64_t position) const noexcept {
  return philox(key_, philox_counter(position / 4, stream_));
}

std::uint32_t Random::bits32() noexcept {
  const std::uint32_t bits = block_[position_ % 4];
  ++position_;
  if (position_ % 4 == 0) block_ = block_at(position_);
  return bits;
}

std::uint64_t Random::bits64() noexcept {
  const std::uint64_t low = bits32();
  return low | std::uint64_t{bits32()} << 32;
}

// Lemire: "Fast random integer generation in an interval" (2019). The result is the high half of a
// product; the few low halves that would bias the result are rejected and drawn again.
std::uint64_t Random::below(std::uint64_t bound) {
  TRIREME_CHECK(bound > 0, "there is no number below 0");
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{bits64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = Wide{bits64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

// Box-Muller, using only one of its two results: every call then consumes exactly 128 bits, so that
// the position after a number of draws can be computed.
double Random::normal() noexcept {
  const double in_0_1 = 1.0 - uniform_double();  // never 0, because log(0) is not finite
  const double turn = uniform_double();
  return std::sqrt(-2.0 * std::log(in_0_1)) * std::cos(2.0 * std::numbers::pi * turn);
}

void Random::seek(std::uint64_t position) noexcept {
  position_ = position;
  block_ = block_at(position);
}

}  // namespace trireme
