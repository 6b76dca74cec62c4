// Dropout whose mask is a pure function of (seed, step, layer, index of the sample in the global
// batch, element). Every rank and micro-batch drops the same elements of a sample, and backward and
// recomputation need no generator state.
//
// The dropout probability is p rounded to 1/65536; kept elements are scaled by exactly the inverse
// of the keep probability.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trireme/model/context.h"

namespace trireme::model {

// x: (B, ...), contiguous or not, of any floating type. Returns x itself if nothing is dropped: p =
// 0, or a context that is not training. `layer` must be different for each use in a model.
// Where x is a part of each sample, it is the elements from `first` on.
// REQUIRES: 0 <= p < 1; context.places, if defined, has B elements.
at::Tensor dropout(const at::Tensor& x, double p, int layer, const Context& context,
                   std::int64_t first = 0);

}  // namespace trireme::model
