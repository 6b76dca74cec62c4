// Runs long arithmetic and copies in strides and yields between them, so that other operations make
// progress and an abort takes effect within a millisecond. The results are the same as without
// strides.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "trireme/comm/kernel/combine.h"
#include "trireme/comm/task.h"

namespace trireme::comm {

inline constexpr std::size_t kStrideSize = std::size_t{512} << 10;

// Calls body(first, count) for each stride of `count` elements.
template <class Body>
Task in_strides(std::size_t count, std::size_t element_size, Body body) {
  const std::size_t stride = kStrideSize / element_size;
  for (std::size_t first = 0; first < count; first += stride) {
    if (first != 0) co_await GiveWay{};
    body(first, std::min(stride, count - first));
  }
}

// combine() with one or two sources; the second may be null.
inline Task combine_in_strides(Combination how, const std::byte* a, const std::byte* b,
                               std::byte* out, std::size_t count) {
  const std::size_t element = size_of(how.type);
  return in_strides(count, element, [=](std::size_t first, std::size_t part) {
    const void* sources[] = {a + first * element, b == nullptr ? nullptr : b + first * element};
    void* to = out + first * element;
    combine(how, std::span<const void* const>(sources, b == nullptr ? 1 : 2), {&to, 1}, part);
  });
}

// Copies in a single call if the ranges overlap, because strides would overwrite unread input.
inline Task copy_in_strides(std::byte* to, const std::byte* from, std::size_t size) {
  if (to < from + size && from < to + size) {
    std::memmove(to, from, size);
    return {};
  }
  return in_strides(size, 1, [to, from](std::size_t first, std::size_t part) {
    std::memmove(to + first, from + first, part);
  });
}

}  // namespace trireme::comm
