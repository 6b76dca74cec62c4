// combine() is the arithmetic of every reduction: several sources of one type into one or more
// destinations.
//
// Order:   the sources are combined along a fixed binary tree over their positions (see
//          tree_middle), whatever the chunking, so a result depends on the sources alone.
// 16 bits: float16 and bfloat16 are widened, combined in float32 and rounded once, to nearest
//          even. Integers wrap. Min and Max of floats: NaN if any source is NaN.
// Mean:    the tree's sum divided by `divisor`, in the accumulation type.
// Alias:   a destination may be one of the sources; otherwise they must not overlap.
//
// The widest vector unit of the machine is chosen once at run time.

#pragma once

#include <cstddef>
#include <span>

#include "trireme/comm/dtype.h"

namespace trireme::comm {

// Where the tree over positions [first, last) is cut: the left side is the largest power of two
// below the count, so that a subtree of positions is the same in a tree of any size.
constexpr std::size_t tree_middle(std::size_t first, std::size_t last) noexcept {
  std::size_t left = 1;
  while (2 * left < last - first) left *= 2;
  return first + left;
}

struct Combination {
  DType type = DType::Float32;
  ReduceOp op = ReduceOp::Sum;
  // For Mean: how many contributions the sources stand for.
  std::size_t divisor = 1;
};

// REQUIRES: at least one source and one destination, each of `count` elements.
void combine(const Combination& how, std::span<const void* const> sources,
             std::span<void* const> destinations, std::size_t count);

// The instruction set that combine() uses here: "avx512", "avx2" or "baseline".
const char* combine_isa() noexcept;

}  // namespace trireme::comm
