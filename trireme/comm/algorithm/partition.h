// How a run of elements is cut into one slice a member: pure arithmetic.
//
// Slices begin on multiples of `grain` elements, so that no two members write to one cache line;
// the last ones may be short or empty.

#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace trireme::comm {

struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;

  friend bool operator==(const Slice&, const Slice&) = default;
};

constexpr Slice slice_of(std::size_t count, std::size_t members, std::size_t member,
                         std::size_t grain) noexcept {
  const std::size_t even = (count + members - 1) / members;
  const std::size_t step = (even + grain - 1) / grain * grain;
  const std::size_t first = std::min(count, step * member);
  return {first, std::min(count - first, step)};
}

// Elements in a cache line.
constexpr std::size_t line_grain(std::size_t element_size) noexcept {
  return 64 / element_size;
}

// Where each member's share begins, when shares lie one behind the other; one more than counts,
// the last being the total.
inline std::vector<std::size_t> offsets_of(std::span<const std::size_t> counts) {
  std::vector<std::size_t> offsets(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  return offsets;
}

}  // namespace trireme::comm
