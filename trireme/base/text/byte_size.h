// ByteSize is a number of bytes. It is a separate type so that a configuration writes it with a
// unit ("64 MiB") and so that code cannot confuse it with a count of elements.
//
//   ByteSize buffer = 64_MiB;
//   arena.allocate(buffer.count);

#pragma once

#include <compare>
#include <cstdint>

namespace trireme {

struct ByteSize {
  std::uint64_t count = 0;

  friend constexpr auto operator<=>(ByteSize, ByteSize) = default;
};

inline namespace literals {

constexpr ByteSize operator""_B(unsigned long long count) noexcept {
  return {count};
}
constexpr ByteSize operator""_KiB(unsigned long long count) noexcept {
  return {count << 10};
}
constexpr ByteSize operator""_MiB(unsigned long long count) noexcept {
  return {count << 20};
}
constexpr ByteSize operator""_GiB(unsigned long long count) noexcept {
  return {count << 30};
}
constexpr ByteSize operator""_TiB(unsigned long long count) noexcept {
  return {count << 40};
}

}  // namespace literals
}  // namespace trireme
