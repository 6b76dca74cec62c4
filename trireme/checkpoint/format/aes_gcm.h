// AES-256-GCM of one chunk, by OpenSSL.
//
// REQUIRES:      the caller encrypts at most one message with each pair of key and nonce.
// Errors:        Io if OpenSSL cannot encrypt (see trireme/base/openssl.h).
// Thread safety: pure functions.

#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "trireme/base/bytes.h"

namespace trireme::checkpoint::format {

using AesKey = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 12>;

inline constexpr std::size_t kProofSize = 16;  // the bytes that encryption adds

// Returns the encrypted message, followed by the tag that authenticates it and `beside`.
Bytes encrypt(const AesKey& key, const Nonce& nonce, ByteView beside, ByteView message);

// Decrypts into `out`, which has the message's size. Returns false if the key, the nonce, `beside`
// or any byte differs from the encryption; the caller must then discard the contents of `out`.
[[nodiscard]] bool decrypt(const AesKey& key, const Nonce& nonce, ByteView beside, ByteView sealed,
                           std::span<std::byte> out);

}  // namespace trireme::checkpoint::format
