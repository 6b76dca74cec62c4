#include "trireme/checkpoint/format/openssl/aes_gcm.h"

#include <openssl/evp.h>

#include <memory>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::checkpoint::format::openssl {
namespace {

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* raw(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

void expect_done(int result, const char* what) {
  if (result != 1) throw Error(ErrorCode::Io, std::string("OpenSSL refuses ") + what);
}

Context make_context() {
  Context context(EVP_CIPHER_CTX_new());
  if (!context) throw Error(ErrorCode::Exhausted, "no memory for a cipher");
  return context;
}

}  // namespace

void expect_openssl() {}

Bytes encrypt(const AesKey& key, const Nonce& nonce, ByteView beside, ByteView message) {
  const Context context = make_context();
  Bytes sealed(message.size() + kProofSize);
  int size = 0;
  expect_done(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, raw(key), raw(nonce)),
              "AES-256-GCM");
  expect_done(EVP_EncryptUpdate(context.get(), nullptr, &size, raw(beside),
                                static_cast<int>(beside.size())),
              "associated data");
  expect_done(EVP_EncryptUpdate(context.get(), raw(sealed.data()), &size, raw(message),
                                static_cast<int>(message.size())),
              "a message");
  TRIREME_CHECK_EQ(static_cast<std::size_t>(size), message.size(), "bytes encrypted");
  expect_done(EVP_EncryptFinal_ex(context.get(), raw(sealed.data()) + size, &size), "an end");
  expect_done(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kProofSize,
                                  sealed.data() + message.size()),
              "a proof");
  return sealed;
}

bool decrypt(const AesKey& key, const Nonce& nonce, ByteView beside, ByteView sealed,
             std::span<std::byte> out) {
  if (sealed.size() != out.size() + kProofSize) return false;
  const Context context = make_context();
  int size = 0;
  expect_done(EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, raw(key), raw(nonce)),
              "AES-256-GCM");
  expect_done(EVP_DecryptUpdate(context.get(), nullptr, &size, raw(beside),
                                static_cast<int>(beside.size())),
              "associated data");
  expect_done(EVP_DecryptUpdate(context.get(), raw(out.data()), &size, raw(sealed),
                                static_cast<int>(out.size())),
              "a message");
  Bytes proof(sealed.end() - kProofSize, sealed.end());
  expect_done(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kProofSize, proof.data()),
              "a proof");
  std::array<std::byte, kProofSize> rest;
  return EVP_DecryptFinal_ex(context.get(), raw(rest.data()), &size) == 1;
}

}  // namespace trireme::checkpoint::format::openssl
