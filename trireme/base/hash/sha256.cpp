#include "trireme/base/hash/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "trireme/base/openssl.h"

namespace trireme {
namespace {

unsigned char* bytes_in(Sha256Digest& digest) {
  return reinterpret_cast<unsigned char*>(digest.data());
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept {
  ::EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context_(::EVP_MD_CTX_new()) {
  expect_openssl(context_ ? ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) : 0,
                 "SHA-256");
}

Sha256& Sha256::update(ByteView bytes) {
  expect_openssl(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()), "SHA-256");
  return *this;
}

Sha256Digest Sha256::digest() {
  Sha256Digest out;
  expect_openssl(::EVP_DigestFinal_ex(context_.get(), bytes_in(out), nullptr), "SHA-256");
  return out;
}

Sha256Digest sha256(ByteView message) {
  Sha256Digest out;
  expect_openssl(
      ::EVP_Digest(message.data(), message.size(), bytes_in(out), nullptr, ::EVP_sha256(), nullptr),
      "SHA-256");
  return out;
}

Sha256Digest hmac_sha256(ByteView key, ByteView message) {
  // OpenSSL takes a null key for the key of an earlier message.
  const void* start = key.empty() ? "" : static_cast<const void*>(key.data());
  Sha256Digest out;
  const unsigned char* made = ::HMAC(::EVP_sha256(), start, static_cast<int>(key.size()),
                                     reinterpret_cast<const unsigned char*>(message.data()),
                                     message.size(), bytes_in(out), nullptr);
  expect_openssl(made != nullptr, "HMAC-SHA256");
  return out;
}

bool equal_in_constant_time(ByteView a, ByteView b) noexcept {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace trireme
