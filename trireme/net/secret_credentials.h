// SecretCredentials let two ends that know the same Secret prove it to each other, without
// sending it and with the server first.
//
//   client -> server   hello    magic, version, client nonce                            37 bytes
//   server -> client   proof    magic, version, server nonce, server identity, HMAC    199 bytes
//   client -> server   answer   client identity, HMAC                                  162 bytes
//   server -> client   welcome  so that a client knows that it was let in                1 byte
//
// Each HMAC-SHA256 covers a label of its side, the version, both nonces, the server's identity
// and, in the answer, the client's: what one side sent is worth nothing from the other side
// (reflection) or on another connection (replay), and no name can be altered on the way. The
// client says nothing about itself before the server has proven itself.
//
// A server that meets another version sends back magic and its own version, so that the client
// can say so, and nothing else to anybody who has not proven anything.
//
// Not covered: what follows the handshake is neither encrypted nor signed; see docs/security.md.
//
// Threads: begin() from any thread. A Handshake is used by one thread at a time.

#pragma once

#include <cstddef>
#include <memory>

#include "trireme/net/credentials.h"
#include "trireme/net/secret.h"

namespace trireme::net {

class SecretCredentials final : public Credentials {
 public:
  static constexpr std::size_t kIdentityTextMax = 64;
  static constexpr std::size_t kHelloSize = 37;
  static constexpr std::size_t kProofSize = 199;
  static constexpr std::size_t kAnswerSize = 162;
  static constexpr std::size_t kWelcomeSize = 1;

  // `self` is what the other end will know us by.
  // REQUIRES: name and role of at most kIdentityTextMax bytes.
  SecretCredentials(Secret secret, Identity self);

  std::unique_ptr<Handshake> begin(Side side) const override;

 private:
  Secret secret_;
  Identity self_;
};

}  // namespace trireme::net
