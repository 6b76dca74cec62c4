#include "trireme/device/device.h"

#include <charconv>

namespace trireme {

std::string name_of(Device device) {
  return device.is_cpu() ? "cpu" : "cuda:" + std::to_string(device.index);
}

std::optional<Device> device_in(std::string_view text) {
  constexpr std::string_view kCuda = "cuda";
  if (text == "cpu") return Device{};
  if (!text.starts_with(kCuda)) return std::nullopt;
  text.remove_prefix(kCuda.size());
  if (text.empty()) return Device::cuda(0);
  if (text.front() != ':') return std::nullopt;
  std::uint16_t index = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 1, end, index);
  if (error != std::errc() || rest != end) return std::nullopt;
  return Device::cuda(index);
}

}  // namespace trireme
