// Span is typed memory that an operation reads and writes; ConstSpan is only read.
//
// Lifetime: a span owns nothing. The memory must stay valid, and the caller must not access it,
// from the call until its Work is done.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

#include "trireme/comm/dtype.h"
#include "trireme/device/device.h"

namespace trireme::comm {

template <class Pointer>
struct BasicSpan {
  Pointer data = nullptr;
  std::size_t count = 0;
  DType type = DType::Float32;
  Device device = {};  // that holds the memory

  std::size_t size() const noexcept { return count * size_of(type); }
  bool is_empty() const noexcept { return count == 0; }

  // The `part_count` elements that begin at `first`.
  BasicSpan part(std::size_t first, std::size_t part_count) const noexcept {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>,
                                    const std::byte, std::byte>;
    return {static_cast<Byte*>(data) + first * size_of(type), part_count, type, device};
  }
};

using Span = BasicSpan<void*>;

struct ConstSpan : BasicSpan<const void*> {
  ConstSpan() = default;
  ConstSpan(const void* d, std::size_t c, DType t, Device v = {}) : BasicSpan{d, c, t, v} {}
  ConstSpan(const Span& span)  // NOLINT: every Span is readable
      : BasicSpan{span.data, span.count, span.type, span.device} {}
  ConstSpan(const BasicSpan<const void*>& span) : BasicSpan(span) {}  // NOLINT
};

// The DType of a C++ type. 16-bit floats have no portable C++ type: pass their DType explicitly.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>)
    return DType::Float64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::Float32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DType::Int64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::Int32;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return DType::Int8;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return DType::UInt8;
  else
    static_assert(!sizeof(T), "no DType for this type");
}

// span(vector), span(array): views of containers of plain numbers.
template <class Container>
  requires requires(Container& c) { std::size(c), std::data(c); }
Span span(Container& values) {
  const std::span all(values);
  return {all.data(), all.size(), dtype_of<typename decltype(all)::value_type>()};
}

template <class Container>
  requires requires(const Container& c) { std::size(c), std::data(c); }
ConstSpan const_span(const Container& values) {
  const std::span all(values);
  return {all.data(), all.size(), dtype_of<typename decltype(all)::value_type>()};
}

}  // namespace trireme::comm
