#include "trireme/base/hash/crc32c.h"

#include <array>

namespace trireme {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) * kPolynomial);
    table[i] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

}  // namespace

std::uint32_t crc32c(ByteView bytes) noexcept {
  std::uint32_t value = ~std::uint32_t{0};
  for (const std::byte byte : bytes) {
    value = (value >> 8) ^ kTable[(value ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  }
  return ~value;
}

}  // namespace trireme
