#include "trireme/train/autocast.h"

#include <ATen/autocast_mode.h>

namespace trireme::train {

std::optional<c10::ScalarType> narrow_type(Precision precision) {
  if (precision == Precision::Float32) return std::nullopt;
  return precision == Precision::BFloat16 ? at::kBFloat16 : at::kHalf;
}

Autocast::Autocast(Precision precision) : is_on_(precision != Precision::Float32) {
  if (!is_on_) return;
  was_on_ = at::autocast::is_autocast_enabled(at::kCPU);
  type_before_ = at::autocast::get_autocast_dtype(at::kCPU);
  at::autocast::set_autocast_dtype(at::kCPU, *narrow_type(precision));
  at::autocast::set_autocast_enabled(at::kCPU, true);
  // The cache may hold casts of weights that have changed since.
  if (!was_on_) at::autocast::clear_cache();
}

Autocast::~Autocast() {
  if (!is_on_) return;
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, was_on_);
  at::autocast::set_autocast_dtype(at::kCPU, type_before_);
}

}  // namespace trireme::train
