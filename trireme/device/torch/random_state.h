// RandomState is a copy of the state of torch's random number generator of a device, which layers
// outside of Trireme draw from.
//
// Thread safety: now() and restore() lock the generator.

#pragma once

#include <ATen/core/Tensor.h>

namespace trireme {

class RandomState {
 public:
  static RandomState now(at::Device device);
  void restore() const;

 private:
  RandomState(at::Device device, at::Tensor state) : device_(device), state_(std::move(state)) {}

  at::Device device_;
  at::Tensor state_;
};

}  // namespace trireme
