// Pattern is the data for checking results: small integers that every type represents exactly, as
// it does every sum over ranks. A correct result is therefore bitwise exact for any order of
// additions. Neighbouring elements differ, and so do ranks.
//
// Thread safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/comm/span.h"

namespace trireme::bench {

// Element `index` of the data of rank `rank` among `ranks`.
constexpr int pattern(int rank, std::size_t index, int ranks) noexcept {
  const std::uint64_t mixed = (index * 0x9e3779b97f4a7c15u) ^
                              ((static_cast<std::uint64_t>(rank) + 1) * 0xbf58476d1ce4e5b9u);
  // int8 holds sums up to 127, bfloat16 every integer up to 256.
  const std::uint64_t values = ranks <= 31 ? 5 : 2;
  return static_cast<int>((mixed >> 32) * values >> 32);
}

void fill(comm::Span data, int rank, int ranks);

// `count` elements of an output, starting at `first`: the sum over the ranks `sources` of their
// data, starting at `input_first`.
struct Expectation {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t input_first = 0;
  std::vector<int> sources;
};

// Describes the first element that is not as expected; nullopt if all are correct.
std::optional<std::string> find_wrong(comm::ConstSpan output, const Expectation& expected,
                                      int ranks);

}  // namespace trireme::bench
