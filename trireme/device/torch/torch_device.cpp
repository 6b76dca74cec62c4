#include "trireme/device/torch/torch_device.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/cuda.h>

#include <mutex>

#include "trireme/base/error.h"

namespace trireme {

// The memory on the CPU is pinned, because other copies would wait.
Reading::Reading(const at::Tensor& tensor) : on_cpu_(tensor.to(at::kCPU, /*non_blocking=*/true)) {
  if (tensor.is_cpu()) return;
  copied_.emplace(tensor.device().type());
  copied_->record(c10::impl::VirtualGuardImpl(tensor.device().type()).getStream(tensor.device()));
}

const at::Tensor& Reading::wait() const {
  if (copied_) copied_->synchronize();
  return on_cpu_;
}

TorchDevice::TorchDevice(Device device) : device_(device) {
  if (device.is_cpu()) return;
  if (!at::hasCUDA()) {
    throw Error(ErrorCode::Unsupported,
                "train.device = \"" + name_of(device) +
                    "\" requires a build of PyTorch with CUDA, but this one is for the CPU; "
                    "install another (TORCH=FOLDER), or set train.device=cpu");
  }
  if (device.index >= gpu_count()) {
    throw Error(ErrorCode::NotFound,
                "train.device = \"" + name_of(device) + "\", but PyTorch finds " +
                    std::to_string(gpu_count()) +
                    " GPUs; check nvidia-smi and CUDA_VISIBLE_DEVICES, or set train.device=cpu");
  }
}

at::Tensor TorchDevice::copy_in(const at::Tensor& tensor) const {
  if (device_.is_cpu() || !tensor.defined()) return tensor;
  return tensor.to(torch(), /*non_blocking=*/true);
}

void TorchDevice::seed(std::uint64_t seed) const {
  if (!device_.is_cpu()) TorchDevice().seed(seed);
  at::Generator generator = at::globalContext().defaultGenerator(torch());
  const std::scoped_lock lock(generator.mutex());
  generator.set_current_seed(seed);
}

Stream current_stream(at::Device device) {
  if (device.is_cpu()) return {};
  const c10::Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
  return {.device = Device::cuda(device.index()), .handle = stream.native_handle()};
}

int gpu_count() {
  return at::hasCUDA() ? static_cast<int>(torch::cuda::device_count()) : 0;
}

Device choose_device(const std::string& wanted, int local_rank) {
  const int gpus = gpu_count();
  if (wanted == "auto" || wanted == "cuda") {
    if (gpus > 0) return Device::cuda(local_rank % gpus);
    return wanted == "auto" ? Device{} : Device::cuda(0);
  }
  if (const std::optional<Device> device = device_in(wanted)) return *device;
  throw Error(ErrorCode::InvalidInput, "train.device = \"" + wanted +
                                           "\" is no device; use \"auto\", \"cpu\", \"cuda\" or "
                                           "\"cuda:N\"");
}

}  // namespace trireme
