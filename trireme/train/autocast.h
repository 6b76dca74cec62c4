// Autocast makes matrix products and the like run in 16 bits while it lives, as torch.autocast
// does in Python: parameters stay float32 and are cast where they are used.
//
// Threads: of the thread that made it. Backward runs each operation in the type of its forward.
// Weights: the casts of weights are kept while it lives and forgotten when it begins and ends,
//          since an update changes weights behind autograd's back.

#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "trireme/train/recipe/config.h"

namespace trireme::train {

// That of products in this precision; nothing where it is the weights' own.
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
