// Finds the k values of largest magnitude by counting instead of sorting, in at most three passes;
// the later passes consider only few values.
//
// Magnitudes are compared as bits: NaN is larger than infinity, and infinity is larger than finite
// values.
//
// Thread safety: pure functions; any thread may call them.

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
  std::size_t equal = 0;   // how many values of exactly this magnitude belong to the k
};

// REQUIRES: 1 <= k <= values.size().
Cut find_cut(std::span<const float> values, std::size_t k);

// The number of values that `ratio` selects of `count`: rounded up, and at least one unless count
// is 0.
std::size_t count_of_share(std::size_t count, double ratio);

// Calls `take` with the indices of the k largest values, in ascending order; of values with equal
// magnitude the first ones are taken. `take` may change the value. REQUIRES: k <= values.size().
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
