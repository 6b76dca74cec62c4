// PassServices is what a synchronization strategy offers to the forward and backward passes of a
// micro-batch; a null pointer means that it does not offer that service.
//
// Thread safety: the thread that runs the passes.

#pragma once

#include "trireme/model/interruption.h"
#include "trireme/model/layer/gradient_buffers.h"
#include "trireme/model/layer/low_precision_weights.h"

namespace trireme::parallel {

struct PassServices {
  model::GradientBuffers* gradient_buffers = nullptr;   // where layers can write gradients directly
  const model::LowPrecisionWeights* weights = nullptr;  // in the type that passes read
  const model::Interruption* interruption = nullptr;    // ends passes of a step that cannot end
  // Backward updates parameters as soon as their gradients are complete, which cannot be undone:
  // the caller must not differentiate a loss that is not finite.
  bool updates_early = false;
  double waited = 0;  // seconds that passes have waited for other ranks, in total
};

}  // namespace trireme::parallel
