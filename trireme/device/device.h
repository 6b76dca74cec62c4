// Device names the processor that holds memory and runs operations on it: the CPU, or one GPU of
// this host. Its text is PyTorch's: "cpu", "cuda:0".
//
// Stream is a queue of a device in which kernels run one after the other. TRIREME_HOST_DEVICE marks
// functions that kernels of the CPU and of a GPU both use, so that their arithmetic is written
// once.
//
// Thread safety: values.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#ifdef __CUDACC__
#define TRIREME_HOST_DEVICE __host__ __device__
#else
#define TRIREME_HOST_DEVICE
#endif

namespace trireme {

enum class DeviceKind : std::uint8_t { Cpu, Cuda };

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;  // among the GPUs that this process can see; 0 for the CPU

  static constexpr Device cuda(int index) { return {DeviceKind::Cuda, index}; }
  constexpr bool is_cpu() const noexcept { return kind == DeviceKind::Cpu; }
  constexpr bool operator==(const Device&) const = default;
};

struct Stream {
  Device device = {};
  void* handle = nullptr;  // a cudaStream_t; null: the default stream, or the CPU, which has none
};

std::string name_of(Device device);

// "cpu", "cuda" (GPU 0) or "cuda:3"; nothing for other texts.
std::optional<Device> device_in(std::string_view text);

}  // namespace trireme
