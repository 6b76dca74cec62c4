#include "trireme/device/torch/random_state.h"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>

#include <mutex>

namespace trireme {

RandomState RandomState::now(at::Device device) {
  RandomState states;
  const auto add = [&](at::Device one) {
    at::Generator generator = at::globalContext().defaultGenerator(one);
    const std::scoped_lock lock(generator.mutex());
    states.all_.push_back({one, generator.get_state()});
  };
  add(at::kCPU);
  if (!device.is_cpu()) add(device);
  return states;
}

void RandomState::restore() const {
  for (const One& one : all_) {
    at::Generator generator = at::globalContext().defaultGenerator(one.device);
    const std::scoped_lock lock(generator.mutex());
    generator.set_state(one.state);
  }
}

}  // namespace trireme
