// recompute() runs a block and keeps only its inputs; backward runs the block again with gradients.
//
// The second run uses the same activations, context, autocast state and state of torch's CPU
// generator as the first. Gradients of the block's parameters are accumulated by a nested backward
// pass, so a hook on a tied parameter fires once for each block that uses it.
//
// Thread safety: as the block's forward; backward runs on autograd's thread.
// Errors:        Misuse if a block has more than kRecomputedTensorsMax input or output tensors.

#pragma once

#include <cstddef>
#include <memory>

#include "trireme/model/block.h"

namespace trireme::model {

inline constexpr std::size_t kRecomputedTensorsMax = 8;

Activations recompute(const std::shared_ptr<Block>& block, Activations in, const Context& context);

}  // namespace trireme::model
