// RandomState is a copy of the state of torch's random number generators of a device and of the
// CPU, which layers outside of Trireme draw from.
//
// Thread safety: now() and restore() lock the generator.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace trireme {

class RandomState {
 public:
  static RandomState now(at::Device device);
  void restore() const;

 private:
  struct One {
    at::Device device;
    at::Tensor state;
  };
  std::vector<One> all_;
};

}  // namespace trireme
