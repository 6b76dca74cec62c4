// ByteSize is a number of bytes, as a type of its own: in a configuration it is written with its
// unit ("64 MiB"), and in code it is not mistaken for a count of elements.
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
