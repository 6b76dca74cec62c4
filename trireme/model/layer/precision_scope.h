// PrecisionScope selects the type in which products are computed during its lifetime, whatever the
// enclosing autocast setting: float32, or a 16-bit type.
//
// Thread safety: affects the thread that created it.
// Inputs:        autocast converts inputs to the 16-bit type but never back. A caller that returns
//                to float32 must cast its inputs.

#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

namespace trireme::model {

class PrecisionScope {
 public:
  // `nullopt`: keeps the enclosing setting.
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
