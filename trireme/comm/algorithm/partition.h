// Computes how a range of elements is cut into one slice per member.
//
// Slices begin on multiples of `grain` elements, so that no two members write to the same cache
// line. The last slices may be short or empty.

#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace trireme::comm {

struct MemberSlice {
  std::size_t first = 0;
  std::size_t count = 0;

  friend bool operator==(const MemberSlice&, const MemberSlice&) = default;
};

constexpr MemberSlice slice_of(std::size_t count, std::size_t members, std::size_t member,
                               std::size_t grain) noexcept {
  const std::size_t even = (count + members - 1) / members;
  const std::size_t step = (even + grain - 1) / grain * grain;
  const std::size_t first = std::min(count, step * member);
  return {first, std::min(count - first, step)};
}

// Number of elements per cache line.
constexpr std::size_t line_grain(std::size_t element_size) noexcept {
  return 64 / element_size;
}

// The offset of each member's share when shares are stored consecutively. Has one more entry than
// `counts`; the last entry is the total.
inline std::vector<std::size_t> offsets_of(std::span<const std::size_t> counts) {
  std::vector<std::size_t> offsets(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  return offsets;
}

}  // namespace trireme::comm
