#include "trireme/base/bytes.h"

#include <limits>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(ByteView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (std::byte b : bytes) {
    out += kDigits[std::to_integer<int>(b) >> 4];
    out += kDigits[std::to_integer<int>(b) & 15];
  }
  return out;
}

Bytes from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) {
    throw Error(ErrorCode::InvalidInput, "hexadecimal text has an odd number of digits");
  }
  Bytes out;
  out.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit_of(hex[i]);
    const int low = digit_of(hex[i + 1]);
    if (high < 0 || low < 0) {
      throw Error(ErrorCode::InvalidInput,
                  "not a hexadecimal digit at position " + std::to_string(high < 0 ? i : i + 1));
    }
    out.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return out;
}

ByteWriter& ByteWriter::append(ByteView bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  return *this;
}

ByteWriter& ByteWriter::put_bytes(ByteView bytes) {
  TRIREME_CHECK(bytes.size() <= std::numeric_limits<std::uint32_t>::max(), "a field of ",
                bytes.size(), " bytes does not fit its 32-bit length");
  put(static_cast<std::uint32_t>(bytes.size()));
  return append(bytes);
}

ByteView ByteReader::take(std::size_t size) {
  if (size > in_.size()) {
    throw Error(ErrorCode::Protocol, "message ends early: needs " + std::to_string(size) +
                                         " more bytes, has " + std::to_string(in_.size()));
  }
  const ByteView taken = in_.first(size);
  in_ = in_.subspan(size);
  return taken;
}

void ByteReader::expect_end() const {
  if (!in_.empty()) {
    throw Error(ErrorCode::Protocol,
                "message has " + std::to_string(in_.size()) + " bytes too many");
  }
}

}  // namespace trireme
