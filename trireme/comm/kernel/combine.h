// combine() is the arithmetic of every reduction: it combines several sources of one type into one
// or more destinations.
//
// Ordering: the sources are combined along a fixed binary tree over their positions (see
//           tree_middle), independent of chunking, so the result depends only on the sources.
// 16 bits:  float16 and bfloat16 are converted to float32, combined and rounded once, to nearest
//           even. Integers wrap. Min and Max of floats are NaN if any source is NaN.
// Mean:     the sum of the tree divided by `divisor`, in the accumulation type.
// Aliasing: a destination may be one of the sources; otherwise they must not overlap.
//
// The widest vector unit of the machine is selected once, at run time.

#pragma once

#include <cstddef>
#include <span>

#include "trireme/comm/dtype.h"

namespace trireme::comm {

// Where the tree over positions [first, last) is split: the left side is the largest power of two
// below the count, so that a subtree of positions is the same in a tree of any size.
constexpr std::size_t tree_middle(std::size_t first, std::size_t last) noexcept {
  std::size_t left = 1;
  while (2 * left < last - first) left *= 2;
  return first + left;
}

struct Combination {
  DType type = DType::Float32;
  ReduceOp op = ReduceOp::Sum;
  // For Mean: the number of contributions that the sources represent.
  std::size_t divisor = 1;
};

// REQUIRES: at least one source and one destination, each of `count` elements.
void combine(const Combination& how, std::span<const void* const> sources,
             std::span<void* const> destinations, std::size_t count);

}  // namespace trireme::comm
