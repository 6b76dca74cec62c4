#include "trireme/checkpoint/format/zstd/squeeze.h"

#include <zstd.h>

#include <cstring>
#include <string>

#include "trireme/base/error.h"

namespace trireme::checkpoint::format::zstd {

void expect_zstd() {}

Bytes squeeze(ByteView raw, int level) {
  Bytes out(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), level);
  if (ZSTD_isError(size) != 0) {
    throw Error(ErrorCode::Exhausted, std::string("zstd: ") + ZSTD_getErrorName(size));
  }
  if (size >= raw.size()) return Bytes(raw.begin(), raw.end());
  out.resize(size);
  return out;
}

void expand(ByteView squeezed, std::span<std::byte> out) {
  if (squeezed.size() == out.size()) {
    if (!out.empty()) std::memcpy(out.data(), squeezed.data(), out.size());
    return;
  }
  const std::size_t size =
      ZSTD_decompress(out.data(), out.size(), squeezed.data(), squeezed.size());
  if (ZSTD_isError(size) != 0) {
    throw Error(ErrorCode::Corrupt, std::string("zstd: ") + ZSTD_getErrorName(size));
  }
  if (size != out.size()) {
    throw Error(ErrorCode::Corrupt, "zstd: " + std::to_string(size) + " bytes where " +
                                        std::to_string(out.size()) + " should be");
  }
}

}  // namespace trireme::checkpoint::format::zstd
