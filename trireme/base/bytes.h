// Byte buffers, byte views, and the little-endian encoding of everything that Trireme sends or
// stores. ByteReader checks bounds: reading past the end of malformed input throws an Error.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme {

static_assert(std::endian::native == std::endian::little,
              "wire and file formats are written as they lie in memory");

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

inline ByteView bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes to_bytes(std::string_view text) {
  const ByteView view = bytes_of(text);
  return Bytes(view.begin(), view.end());
}

std::string to_hex(ByteView bytes);
// Throws InvalidInput unless `hex` is an even number of hexadecimal digits.
Bytes from_hex(std::string_view hex);

class ByteWriter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  ByteWriter& put(T value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    out_.insert(out_.end(), raw.begin(), raw.end());
    return *this;
  }
  // Appends raw bytes without a length.
  ByteWriter& append(ByteView bytes);
  // Appends a 32-bit length and then the bytes.
  ByteWriter& put_bytes(ByteView bytes);
  ByteWriter& put_text(std::string_view text) { return put_bytes(bytes_of(text)); }

  const Bytes& bytes() const& noexcept { return out_; }
  Bytes take() && { return std::move(out_); }

 private:
  Bytes out_;
};

class ByteReader {
 public:
  explicit ByteReader(ByteView in) : in_(in) {}

  // These functions throw Protocol when the input is too short.
  template <class T>
    requires std::is_arithmetic_v<T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  ByteView take(std::size_t size);
  ByteView get_bytes() { return take(get<std::uint32_t>()); }
  std::string get_text() { return std::string(text_of(get_bytes())); }

  std::size_t remaining() const noexcept { return in_.size(); }
  // Throws Protocol unless the whole input was read.
  void expect_end() const;

 private:
  ByteView in_;
};

}  // namespace trireme
