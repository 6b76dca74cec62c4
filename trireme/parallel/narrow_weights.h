// NarrowWeights keeps 16-bit copies of the parameters that passes read on a GPU, and converts all
// of them together, in a few launches, before the first one is read in a step.
//
//   NarrowWeights copies(parameters, at::kBFloat16);
//   copies.expire();                           // the values may have changed
//   const at::Tensor narrow = copies.copy_of(weight);
//
// Only what was asked for in an earlier step is converted with the others.
//
// Thread safety: one thread.
// Lifetime:      a copy is valid until the first copy_of() after expire().

#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <unordered_map>

#include "trireme/model/layer/low_precision_weights.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

class NarrowWeights final : public model::LowPrecisionWeights {
 public:
  NarrowWeights(std::span<const Parameter> parameters, at::ScalarType type);

  void expire() noexcept { is_current_ = false; }
  // Undefined for parameters of other types than float32, and for other tensors.
  at::Tensor copy_of(const at::Tensor& parameter) const override;

 private:
  struct Copy {
    at::Tensor of;
    at::Tensor narrow = {};  // undefined until somebody asks for it
  };

  void convert() const;

  at::ScalarType type_;
  mutable bool is_current_ = false;
  mutable std::unordered_map<const void*, Copy> copies_;  // by the parameter's tensor
};

}  // namespace trireme::parallel
