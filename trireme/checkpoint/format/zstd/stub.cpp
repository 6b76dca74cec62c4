#include "trireme/base/error.h"
#include "trireme/checkpoint/format/zstd/squeeze.h"

namespace trireme::checkpoint::format::zstd {

void expect_zstd() {
  throw Error(ErrorCode::Unsupported,
              "this build has no zstd for compressed checkpoints; install libzstd-dev and build "
              "again");
}

Bytes squeeze(ByteView, int) {
  expect_zstd();
  return {};
}

void expand(ByteView, std::span<std::byte>) {
  expect_zstd();
}

}  // namespace trireme::checkpoint::format::zstd
