// PrecisionScope makes products compute in one type while it lives, whatever autocast is set to
// around it: float32, or a type of 16 bits.
//
// Threads: of the thread that made it.
// Inputs:  autocast narrows what it is given, and widens nothing: whoever goes back to float32
//          casts what comes in.

#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

namespace trireme::model {

class PrecisionScope {
 public:
  // Nothing: as it is around it.
  explicit PrecisionScope(std::optional<at::ScalarType> type);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  bool is_set_;
  bool was_on_ = false;
  at::ScalarType type_before_ = at::kBFloat16;
};

}  // namespace trireme::model
