// AES-256-GCM of one chunk, by OpenSSL; without OpenSSL in the build, stub.cpp says so.
//
// A key and a nonce together seal one message, ever: the caller sees to that.
//
// Threads: pure.
// Failure: Unsupported in a build without OpenSSL.

#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "trireme/base/bytes.h"

namespace trireme::checkpoint::format::openssl {

using AesKey = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 12>;

inline constexpr std::size_t kProofSize = 16;  // what a sealed message is longer

// Throws Unsupported with a remedy unless this build can.
void expect_openssl();

// The message encrypted, then the proof that nobody changed it or `beside`.
Bytes encrypt(const AesKey& key, const Nonce& nonce, ByteView beside, ByteView message);

// The other way, into `out` of the message's size; false where key, nonce, `beside` or any byte is
// another than it was: what is in `out` is then to be thrown away.
[[nodiscard]] bool decrypt(const AesKey& key, const Nonce& nonce, ByteView beside, ByteView sealed,
                           std::span<std::byte> out);

}  // namespace trireme::checkpoint::format::openssl
