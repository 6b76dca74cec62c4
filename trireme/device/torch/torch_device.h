// TorchDevice is the device that a rank trains on, as code with tensors uses it: where tensors are
// made, how they get there and back, and its random numbers. Kernels of a GPU run after the call
// that starts them returns; only Reading::wait() waits for them.
//
//   const TorchDevice device(*device_in("cuda:0"));
//   const at::Tensor output = model.forward(device.copy_in(batch.input), context);
//   const Reading reading(loss);  // then start more work, such as backward
//   const at::Tensor& on_cpu = reading.wait();
//
// Errors:        the constructor throws Unsupported if PyTorch has no support for the device, and
//                NotFound if this machine has no such GPU.
// Thread safety: a value.

#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <optional>
#include <string>

#include "trireme/device/device.h"

namespace trireme {

// A tensor of a device that is being copied to the CPU. An empty one has an undefined tensor.
class Reading {
 public:
  Reading() = default;
  explicit Reading(const at::Tensor& tensor);

  bool is_empty() const noexcept { return !on_cpu_.defined(); }
  // Waits for the operations that were started before the copy, and for none of the later ones.
  const at::Tensor& wait() const;

 private:
  at::Tensor on_cpu_;
  std::optional<c10::Event> copied_;  // none: there was nothing to copy
};

class TorchDevice {
 public:
  explicit TorchDevice(Device device = {});

  Device device() const noexcept { return device_; }
  at::Device torch() const noexcept {
    return device_.is_cpu() ? at::Device(at::kCPU)
                            : at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device_.index));
  }

  // A tensor of the CPU, on this device; undefined tensors stay undefined. The copy is ordered with
  // operations on this device: the caller must not change the original before it has waited for
  // something that was read later.
  at::Tensor copy_in(const at::Tensor& tensor) const;

  // Sets torch's own generators of this device and of the CPU, which modules outside of Trireme
  // draw from.
  void seed(std::uint64_t seed) const;

 private:
  Device device_;
};

// The stream on which this thread's operations on a device run.
Stream current_stream(at::Device device);

// The number of GPUs that PyTorch can use in this process; 0 without CUDA.
int gpu_count();

// train.device for a rank: "auto" is the rank's GPU if there is one, otherwise the CPU; "cuda" is
// the rank's GPU. Ranks of one host share its GPUs in turn.
// Errors: InvalidInput for other texts.
Device choose_device(const std::string& wanted, int local_rank);

}  // namespace trireme
