#include "trireme/comm/kernel/convert.h"

#include <cstdint>

#include "trireme/comm/kernel/half.h"

namespace trireme::comm {

void widen(DType type, const void* in, float* out, std::size_t count) {
  const auto* halves = static_cast<const std::uint16_t*>(in);
  if (type == DType::BFloat16) {
    for (std::size_t i = 0; i < count; ++i) out[i] = widen_bfloat16(halves[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = widen_half(halves[i]);
  }
}

void narrow(DType type, const float* in, void* out, std::size_t count) {
  auto* halves = static_cast<std::uint16_t*>(out);
  if (type == DType::BFloat16) {
    for (std::size_t i = 0; i < count; ++i) halves[i] = narrow_bfloat16(in[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i) halves[i] = narrow_half(in[i]);
  }
}

}  // namespace trireme::comm
