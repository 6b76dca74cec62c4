// recompute() runs a block and keeps its inputs only; backward runs it again with gradients.
//
// The second run sees the same activations, context, autocast state and state of torch's CPU
// generator as the first. Gradients of the block's parameters are accumulated by a backward pass
// within the outer one, so a hook on a tied parameter fires once for each block that uses it.
//
// Threads: as the block's forward; backward on the thread that autograd runs it on.
// Failure: Misuse where a block gives or takes more than kRecomputedTensorsMax tensors.

#pragma once

#include <cstddef>
#include <memory>

#include "trireme/model/block.h"

namespace trireme::model {

inline constexpr std::size_t kRecomputedTensorsMax = 8;

Activations recompute(const std::shared_ptr<Block>& block, Activations in, const Context& context);

}  // namespace trireme::model
