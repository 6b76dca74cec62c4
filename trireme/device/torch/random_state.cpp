#include "trireme/device/torch/random_state.h"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>

#include <mutex>

namespace trireme {

RandomState RandomState::now(at::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::scoped_lock lock(generator.mutex());
  return {device, generator.get_state()};
}

void RandomState::restore() const {
  at::Generator generator = at::globalContext().defaultGenerator(device_);
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state_);
}

}  // namespace trireme
