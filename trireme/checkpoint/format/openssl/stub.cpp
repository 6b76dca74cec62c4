#include "trireme/base/error.h"
#include "trireme/checkpoint/format/openssl/aes_gcm.h"

namespace trireme::checkpoint::format::openssl {

void expect_openssl() {
  throw Error(ErrorCode::Unsupported,
              "this build has no OpenSSL for encrypted checkpoints; install libssl-dev and build "
              "again");
}

Bytes encrypt(const AesKey&, const Nonce&, ByteView, ByteView) {
  expect_openssl();
  return {};
}

bool decrypt(const AesKey&, const Nonce&, ByteView, ByteView, std::span<std::byte>) {
  expect_openssl();
  return false;
}

}  // namespace trireme::checkpoint::format::openssl
