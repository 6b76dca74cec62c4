#include "trireme/base/error.h"
#include "trireme/codec/zstd/lossless.h"

namespace trireme::codec::zstd {

bool is_available() noexcept {
  return false;
}

Lossless::Lossless(int level) : level_(level) {
  throw Error(
      ErrorCode::Unsupported,
      "this build has no zstd for sync.codec.kind = \"zstd\"; install libzstd-dev and build "
      "again, or take another codec");
}

std::size_t Lossless::encode(std::span<const float>, std::span<const BucketPart>, const Draw&,
                             std::span<std::byte>) const {
  return 0;
}

void Lossless::add(ByteView, std::span<const BucketPart>, std::span<float>) const {}

}  // namespace trireme::codec::zstd
