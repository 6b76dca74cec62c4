// Autocast runs matrix products and similar operations in 16 bits during its lifetime, as
// torch.autocast does in Python: parameters stay float32 and are cast where they are used. Backward
// runs each operation in the type of its forward.
//
// Lifetime:      casts of weights are cached during its lifetime. The cache is cleared at the
//                beginning and at the end, because an update changes weights without autograd.
// Thread safety: affects only the thread that created it.

#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "trireme/train/recipe/config.h"

namespace trireme::train {

// The type of matrix products in this precision; nullopt if it is the type of the weights.
std::optional<c10::ScalarType> narrow_type(Precision precision);

class Autocast {
 public:
  explicit Autocast(Precision precision);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool is_on_;
  bool was_on_ = false;
  c10::ScalarType type_before_ = c10::ScalarType::BFloat16;
};

}  // namespace trireme::train
