// WeightCopies has weights in the type that a pass computes in, where that is not their own:
// written once when the weights change, instead of cast in every pass of every rank.
//
// Threads:  the one that runs the pass.
// Lifetime: outlives the backward passes of contexts that refer to it.

#pragma once

#include <ATen/core/Tensor.h>

namespace trireme::model {

class WeightCopies {
 public:
  virtual ~WeightCopies() = default;
  // Contiguous, of the parameter's sizes, to be read until backward has ended. Undefined where
  // there is none.
  virtual at::Tensor copy_of(const at::Tensor& parameter) const = 0;
};

}  // namespace trireme::model
