#include "trireme/base/text/base64.h"

#include <array>
#include <cstdint>

#include "trireme/base/error.h"

namespace trireme {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& value : values) value = kNoDigit;
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr std::array<std::uint8_t, 256> kValues = make_values();

[[noreturn]] void refuse_base64() {
  throw Error(ErrorCode::Protocol, "this is no base64");
}

}  // namespace

std::string to_base64(ByteView bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = std::to_integer<std::uint32_t>(bytes[i]) << 16;
    if (left > 1) group |= std::to_integer<std::uint32_t>(bytes[i + 1]) << 8;
    if (left > 2) group |= std::to_integer<std::uint32_t>(bytes[i + 2]);
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += left > 1 ? kDigits[group >> 6 & 63] : '=';
    text += left > 2 ? kDigits[group & 63] : '=';
  }
  return text;
}

Bytes from_base64(std::string_view text) {
  if (text.size() % 4 != 0) refuse_base64();
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  Bytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool is_last = i + 4 == text.size();
    const std::size_t digits = is_last ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint8_t value = k < digits ? kValues[static_cast<unsigned char>(text[i + k])] : 0;
      if (value == kNoDigit) refuse_base64();
      group = group << 6 | value;
    }
    // The unused bits of the last digit must be zero, so that every byte sequence has one encoding.
    if ((digits == 3 && (group & 0xff) != 0) || (digits == 2 && (group & 0xffff) != 0)) {
      refuse_base64();
    }
    for (std::size_t k = 0; k + 1 < digits; ++k) {
      bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * k) & 0xff));
    }
  }
  return bytes;
}

}  // namespace trireme
