#include "trireme/codec/select.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/base/check.h"

namespace trireme::codec {
namespace {

// The 31 bits of a magnitude as three digits, highest first.
constexpr int kDigitBits[] = {11, 10, 10};
constexpr int kShifts[] = {20, 10, 0};

}  // namespace

Cut find_cut(std::span<const float> values, std::size_t k) {
  TRIREME_CHECK(k >= 1 && k <= values.size(), k, " of ", values.size(), " values");
  std::uint32_t prefix = 0;  // the digits of the cut that are known so far
  for (int digit = 0; digit < 3; ++digit) {
    const int shift = kShifts[digit];
    const std::uint32_t mask = (1u << kDigitBits[digit]) - 1;
    std::array<std::uint32_t, 1 << 11> counts{};
    for (const float value : values) {
      const std::uint32_t bits = magnitude_bits(value);
      if (digit == 0 || bits >> (shift + kDigitBits[digit]) == prefix)
        ++counts[bits >> shift & mask];
    }
    std::uint32_t found = mask;
    for (; counts[found] < k; --found) k -= counts[found];
    prefix = prefix << kDigitBits[digit] | found;
  }
  return {.bits = prefix, .equal = k};
}

std::size_t count_of_share(std::size_t count, double ratio) {
  if (count == 0) return 0;
  const auto wanted = static_cast<std::size_t>(std::ceil(ratio * static_cast<double>(count)));
  return std::clamp<std::size_t>(wanted, 1, count);
}

}  // namespace trireme::codec
