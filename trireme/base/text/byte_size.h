// ByteSize is a number of bytes. It is a separate type so that a configuration writes it with a
// unit ("64 MiB") and so that code cannot confuse it with a count of elements.

#pragma once

#include <compare>
#include <cstdint>

namespace trireme {

struct ByteSize {
  std::uint64_t count = 0;

  friend constexpr auto operator<=>(ByteSize, ByteSize) = default;
};

}  // namespace trireme
