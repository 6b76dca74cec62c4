// Credentials authenticate both ends of a connection: they prove that this end belongs to the job,
// and verify that the other end does, before any of its data is trusted.
//
// A Handshake does no I/O: it maps input bytes to output bytes without a socket or a clock, so that
// it runs under any event loop, in a simulation and in a fuzzer. SecretCredentials use one shared
// secret; TLS and per-client keys will be further implementations.
//
// Errors: feed() throws Unauthenticated (wrong secret) or Protocol (not this protocol). The caller
//         then sends the remaining take_output() (at most the protocol version of this end) and
//         closes the connection without further information.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trireme/base/bytes.h"

namespace trireme::net {

// The authenticated identity of the other end.
struct Identity {
  std::string name{};     // "rank 3", "launcher", "watch"
  std::string purpose{};  // of this connection; its user defines the bytes; usually empty
};

enum class Side : std::uint8_t { Client, Server };

class Handshake {
 public:
  virtual ~Handshake() = default;

  // The bytes to send now; empty if the other side has to send next.
  virtual Bytes take_output() = 0;
  // Consumes the handshake's part of `input` and returns its size; the rest belongs to the first
  // frame.
  virtual std::size_t feed(ByteView input) = 0;
  virtual bool is_done() const = 0;
  // REQUIRES: is_done().
  virtual const Identity& peer() const = 0;
};

class Credentials {
 public:
  virtual ~Credentials() = default;
  // `purpose`: the purpose of this connection that this end announces.
  virtual std::unique_ptr<Handshake> begin(Side side, std::string_view purpose = {}) const = 0;
};

}  // namespace trireme::net
