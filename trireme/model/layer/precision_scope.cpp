#include "trireme/model/layer/precision_scope.h"

#include <ATen/autocast_mode.h>

namespace trireme::model {

PrecisionScope::PrecisionScope(std::optional<at::ScalarType> type) : is_set_(type.has_value()) {
  if (!is_set_) return;
  was_on_ = at::autocast::is_autocast_enabled(at::kCPU);
  type_before_ = at::autocast::get_autocast_dtype(at::kCPU);
  at::autocast::set_autocast_enabled(at::kCPU, *type != at::kFloat);
  if (*type != at::kFloat) at::autocast::set_autocast_dtype(at::kCPU, *type);
}

PrecisionScope::~PrecisionScope() {
  if (!is_set_) return;
  // No enclosing autocast scope clears the cache, and an update changes weights without autograd.
  if (!was_on_) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, was_on_);
  at::autocast::set_autocast_dtype(at::kCPU, type_before_);
}

}  // namespace trireme::model
