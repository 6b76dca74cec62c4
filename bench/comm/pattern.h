// Pattern is the data by which answers are checked: small whole numbers that every type holds
// exactly, and so does every sum over ranks, so that a right answer is right to the last bit
// whatever the order of additions. Neighbours differ, and so do ranks.
//
// Threads: pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trireme/comm/span.h"

namespace trireme::bench {

// Element `index` of rank `rank`'s data among `ranks`.
constexpr int pattern(int rank, std::size_t index, int ranks) noexcept {
  const std::uint64_t mixed = (index * 0x9e3779b97f4a7c15u) ^
                              ((static_cast<std::uint64_t>(rank) + 1) * 0xbf58476d1ce4e5b9u);
  // An int8 holds sums up to 127, a bfloat16 every whole number up to 256.
  const std::uint64_t values = ranks <= 31 ? 5 : 2;
  return static_cast<int>((mixed >> 32) * values >> 32);
}

void fill(comm::Span data, int rank, int ranks);

// `count` elements of an output, from `first` on: the sum over `sources` of their data, from
// `input_first` on.
struct Expectation {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t input_first = 0;
  std::vector<int> sources;
};

// The first element that is not as expected, in words; nothing if all are.
std::optional<std::string> find_wrong(comm::ConstSpan output, const Expectation& expected,
                                      int ranks);

}  // namespace trireme::bench
