// LowPrecisionWeights holds weights in the type that a pass computes in, if that differs from their
// own. They are converted once when the weights change, instead of in every pass on every rank.
//
// Thread safety: used by the thread that runs the pass.
// Lifetime:      must outlive the backward passes of contexts that refer to it.

#pragma once

#include <ATen/core/Tensor.h>

namespace trireme::model {

class LowPrecisionWeights {
 public:
  virtual ~LowPrecisionWeights() = default;
  // A contiguous tensor with the parameter's sizes, valid until backward has ended. Undefined if
  // there is none.
  virtual at::Tensor copy_of(const at::Tensor& parameter) const = 0;
};

}  // namespace trireme::model
