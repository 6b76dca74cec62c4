// The k values of largest magnitude, found by counting and not by sorting: three passes over the
// values at most, of which the later ones look at few.
//
// Magnitudes are compared as bits, in which NaN is larger than infinity and infinity than the rest.
//
// Threads: pure.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trireme::codec {

inline std::uint32_t magnitude_bits(float value) noexcept {
  return std::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
}

struct Cut {
  std::uint32_t bits = 0;  // of the k-th largest magnitude
  std::size_t equal = 0;   // how many of those that are exactly as large belong to the k
};

// REQUIRES: 1 <= k <= values.size().
Cut find_cut(std::span<const float> values, std::size_t k);

// How many of `count` values a share of them is: rounded up, and at least one of any.
std::size_t count_of_share(std::size_t count, double ratio);

// Calls `take` with the places of the k largest, in ascending order; of those that are exactly as
// large the first ones. It may change the value there. REQUIRES: k <= values.size().
template <class Take>
void for_largest(std::span<const float> values, std::size_t k, Take&& take) {
  if (k == 0) return;
  Cut cut = find_cut(values, k);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t bits = magnitude_bits(values[i]);
    if (bits < cut.bits) continue;
    if (bits == cut.bits && cut.equal == 0) continue;
    if (bits == cut.bits) --cut.equal;
    take(i);
  }
}

}  // namespace trireme::codec
