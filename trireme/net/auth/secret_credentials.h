// SecretCredentials let two ends that know the same Secret prove it to each other without sending
// it. The server authenticates first.
//
//   client -> server   hello    magic, version, client nonce                            37 bytes
//   server -> client   proof    magic, version, server nonce, server identity, HMAC    199 bytes
//   client -> server   answer   client identity, HMAC                                  162 bytes
//   server -> client   welcome  tells the client that it was accepted                    1 byte
//
// An identity is a name and the purpose of the connection (see Identity), 65 bytes each.
//
// Each HMAC-SHA256 covers a label of its side, the version, both nonces, the server's identity and,
// in the answer, the client's identity. A message is therefore invalid when sent by the other side
// (reflection) or on another connection (replay), and identities cannot be altered in transit. The
// client reveals nothing about itself before the server has authenticated.
//
// A server that receives another version replies with the magic and its own version, so that the
// client can report the mismatch. It sends nothing else to unauthenticated clients.
//
// Not covered: data after the handshake is neither encrypted nor signed; see docs/security.md.
//
// Thread safety: any thread may call begin(). A Handshake is used by one thread at a time.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "trireme/net/auth/credentials.h"
#include "trireme/net/auth/secret.h"

namespace trireme::net {

class SecretCredentials final : public Credentials {
 public:
  static constexpr std::size_t kIdentityTextMax = 64;
  static constexpr std::size_t kHelloSize = 37;
  static constexpr std::size_t kProofSize = 199;
  static constexpr std::size_t kAnswerSize = 162;
  static constexpr std::size_t kWelcomeSize = 1;

  // `name` identifies this end to the other end. REQUIRES: the name and every purpose have at most
  // kIdentityTextMax bytes.
  SecretCredentials(Secret secret, std::string name);

  std::unique_ptr<Handshake> begin(Side side, std::string_view purpose = {}) const override;

 private:
  Secret secret_;
  std::string name_;
};

}  // namespace trireme::net
