#include "trireme/device/torch/autocast.h"

#include <ATen/autocast_mode.h>

namespace trireme {

Autocast::Autocast(c10::DeviceType device, std::optional<c10::ScalarType> type)
    : device_(device), is_set_(type.has_value()) {
  if (!is_set_) return;
  was_on_ = at::autocast::is_autocast_enabled(device_);
  type_before_ = at::autocast::get_autocast_dtype(device_);
  if (!was_on_) at::autocast::clear_cache();
  const bool is_on = *type != at::kFloat;
  at::autocast::set_autocast_enabled(device_, is_on);
  if (is_on) at::autocast::set_autocast_dtype(device_, *type);
}

Autocast::~Autocast() {
  if (!is_set_) return;
  if (!was_on_) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, was_on_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

c10::ScalarType Autocast::type_on(c10::DeviceType device) {
  if (!at::autocast::is_autocast_enabled(device)) return at::kFloat;
  return at::autocast::get_autocast_dtype(device);
}

}  // namespace trireme
