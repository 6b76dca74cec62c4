// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), computed by OpenSSL, for authentication and for
// comparing the inputs of ranks. Intended for control traffic; use a faster checksum for bulk data.
//
// Thread safety: a Sha256 is used by one thread at a time; the functions are pure.
// Errors:        Io if OpenSSL cannot compute SHA-256 (see trireme/base/openssl.h).

#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "trireme/base/bytes.h"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace trireme {

using Sha256Digest = std::array<std::byte, 32>;

// The digest of a message that arrives in pieces.
class Sha256 {
 public:
  Sha256();

  // Appends to the message. The digest does not depend on how the message is split into pieces.
  Sha256& update(ByteView bytes);

  // The digest of the whole message. REQUIRES: nothing is called after it.
  Sha256Digest digest();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };

  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

Sha256Digest sha256(ByteView message);

// Proves knowledge of `key` to a verifier that has the same key. Any length works; use 32 bytes.
Sha256Digest hmac_sha256(ByteView key, ByteView message);

// Compares a and b in a time that depends only on their sizes. Use it for secrets and proofs: the
// duration of == reveals how many leading bytes match.
bool equal_in_constant_time(ByteView a, ByteView b) noexcept;

}  // namespace trireme
