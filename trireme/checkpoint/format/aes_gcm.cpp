#include "trireme/checkpoint/format/aes_gcm.h"

#include <openssl/evp.h>

#include <memory>
#include <string_view>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/openssl.h"

namespace trireme::checkpoint::format {
namespace {

constexpr std::string_view kCipherName = "AES-256-GCM";

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* octets(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* octets(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

CipherContext make_cipher() {
  CipherContext context(EVP_CIPHER_CTX_new());
  if (!context) throw Error(ErrorCode::Exhausted, "no memory for a cipher");
  return context;
}

}  // namespace

Bytes encrypt(const AesKey& key, const Nonce& nonce, ByteView beside, ByteView message) {
  const CipherContext context = make_cipher();
  Bytes sealed(message.size() + kProofSize);
  int size = 0;
  expect_openssl(
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, octets(key), octets(nonce)),
      kCipherName);
  expect_openssl(EVP_EncryptUpdate(context.get(), nullptr, &size, octets(beside),
                                   static_cast<int>(beside.size())),
                 kCipherName);
  expect_openssl(EVP_EncryptUpdate(context.get(), octets(sealed.data()), &size, octets(message),
                                   static_cast<int>(message.size())),
                 kCipherName);
  TRIREME_CHECK_EQ(static_cast<std::size_t>(size), message.size(), "bytes encrypted");
  expect_openssl(EVP_EncryptFinal_ex(context.get(), octets(sealed.data()) + size, &size),
                 kCipherName);
  expect_openssl(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kProofSize,
                                     sealed.data() + message.size()),
                 kCipherName);
  return sealed;
}

bool decrypt(const AesKey& key, const Nonce& nonce, ByteView beside, ByteView sealed,
             std::span<std::byte> out) {
  if (sealed.size() != out.size() + kProofSize) return false;
  const CipherContext context = make_cipher();
  int size = 0;
  expect_openssl(
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, octets(key), octets(nonce)),
      kCipherName);
  expect_openssl(EVP_DecryptUpdate(context.get(), nullptr, &size, octets(beside),
                                   static_cast<int>(beside.size())),
                 kCipherName);
  expect_openssl(EVP_DecryptUpdate(context.get(), octets(out.data()), &size, octets(sealed),
                                   static_cast<int>(out.size())),
                 kCipherName);
  Bytes proof(sealed.end() - kProofSize, sealed.end());
  expect_openssl(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kProofSize, proof.data()),
                 kCipherName);
  std::array<std::byte, kProofSize> rest;
  return EVP_DecryptFinal_ex(context.get(), octets(rest.data()), &size) == 1;
}

}  // namespace trireme::checkpoint::format
