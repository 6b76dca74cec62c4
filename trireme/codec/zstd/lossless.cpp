#include "trireme/codec/zstd/lossless.h"

#include <zstd.h>

#include <cstring>
#include <string>

#include "trireme/base/error.h"
#include "trireme/codec/coded_size.h"

namespace trireme::codec::zstd {
namespace {

constexpr std::size_t kWidth = sizeof(float);

// Groups the bytes by significance: first all lowest bytes, then all second ones, and so on.
Bytes sorted(std::span<const float> values) {
  const ByteView raw = std::as_bytes(values);
  Bytes out(raw.size());
  for (std::size_t place = 0; place < kWidth; ++place) {
    std::byte* to = out.data() + place * values.size();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = raw[i * kWidth + place];
  }
  return out;
}

void add_sorted(ByteView bytes, std::span<float> sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    std::byte raw[kWidth];
    for (std::size_t place = 0; place < kWidth; ++place) raw[place] = bytes[place * sum.size() + i];
    float value = 0;
    std::memcpy(&value, raw, kWidth);
    sum[i] += value;
  }
}

}  // namespace

bool is_available() noexcept {
  return true;
}

Lossless::Lossless(int level) : level_(level) {}

std::size_t Lossless::encode(std::span<const float> values, std::span<const BucketPart>,
                             const Draw&, std::span<std::byte> out) const {
  const Bytes bytes = sorted(values);
  out[0] = std::byte{1};
  // The output buffer is one byte smaller than the input: if compression fails to fit, the values
  // are sent uncompressed.
  const std::size_t size = bytes.empty() ? 0
                                         : ZSTD_compress(out.data() + 1, bytes.size() - 1,
                                                         bytes.data(), bytes.size(), level_);
  if (!bytes.empty() && ZSTD_isError(size) == 0) return 1 + size;
  out[0] = std::byte{0};
  if (!bytes.empty()) std::memcpy(out.data() + 1, bytes.data(), bytes.size());
  return 1 + bytes.size();
}

void Lossless::add(ByteView coded, std::span<const BucketPart>, std::span<float> sum) const {
  const std::size_t whole = sum.size() * kWidth;
  if (coded.empty()) expect_size(coded, 1 + whole);
  const bool is_squeezed = coded[0] == std::byte{1};
  const ByteView body = coded.subspan(1);
  if (!is_squeezed) {
    expect_size(body, whole);
    return add_sorted(body, sum);
  }
  Bytes bytes(whole);
  const std::size_t size = ZSTD_decompress(bytes.data(), bytes.size(), body.data(), body.size());
  if (ZSTD_isError(size) != 0) {
    throw Error(ErrorCode::Corrupt, std::string("zstd: ") + ZSTD_getErrorName(size));
  }
  expect_size({bytes.data(), size}, whole);
  add_sorted(bytes, sum);
}

}  // namespace trireme::codec::zstd
