// Autocast sets the type in which matrix products and similar operations of a device run during its
// lifetime, as torch.autocast does in Python: parameters stay float32 and are cast where they are
// used. Backward runs each operation in the type of its forward.
//
// Inputs:        autocast converts inputs to the 16-bit type but never back. A caller that returns
//                to float32 must cast its inputs.
// Lifetime:      casts of weights are cached while autocast is on. The outermost object clears the
//                cache at its beginning and end, because an update changes weights without
//                autograd.
// Thread safety: affects only the thread that created it.

#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace trireme {

class Autocast {
 public:
  // float32: autocast is off. nullopt: the enclosing setting is kept.
  Autocast(c10::DeviceType device, std::optional<c10::ScalarType> type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  // The current setting of this thread; float32 if autocast is off.
  static c10::ScalarType type_on(c10::DeviceType device);

 private:
  c10::DeviceType device_;
  bool is_set_;
  bool was_on_ = false;
  c10::ScalarType type_before_ = c10::ScalarType::BFloat16;
};

}  // namespace trireme
