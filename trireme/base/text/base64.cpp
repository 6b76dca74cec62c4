#include "trireme/base/text/base64.h"

#include <openssl/evp.h>

#include <cstddef>

#include "trireme/base/error.h"

namespace trireme {
namespace {

// OpenSSL counts in int.
constexpr std::size_t kTextMax = std::size_t{1} << 30;

[[noreturn]] void refuse_base64() {
  throw Error(ErrorCode::Protocol, "this is no base64");
}

}  // namespace

std::string to_base64(ByteView bytes) {
  const std::size_t size = (bytes.size() + 2) / 3 * 4;
  if (size > kTextMax) throw Error(ErrorCode::Exhausted, "base64 of over 1 GiB");
  std::string text(size, '\0');
  // This also writes a null byte after the text, where the string has its own.
  ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                    reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()));
  return text;
}

Bytes from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > kTextMax) refuse_base64();
  Bytes bytes(text.size() / 4 * 3);
  const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (size < 0) refuse_base64();
  // OpenSSL decodes padding as zeros.
  const std::ptrdiff_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.erase(bytes.end() - padding, bytes.end());
  // It also accepts surrounding blanks, misplaced padding, and digits with unused bits.
  if (to_base64(bytes) != text) refuse_base64();
  return bytes;
}

}  // namespace trireme
