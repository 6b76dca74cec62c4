// Credentials prove to the other end of a connection that we belong to the job, and check that
// it does, before a byte of its is trusted.
//
// A Handshake is pure: bytes in, bytes out, no socket and no clock, so that it runs under any
// event loop, in a simulation and under a fuzzer. SecretCredentials know one shared secret;
// TLS and per-client keys will be further implementations.
//
// Failure: feed() throws Unauthenticated (wrong secret) or Protocol (not our bytes). What
//          take_output() then still holds (at most which version this end speaks) is sent, and the
//          connection closed without an answer that would help a stranger.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trireme/base/bytes.h"

namespace trireme::net {

// Who the other end has proven to be.
struct Identity {
  std::string name;  // "rank 3", "launcher", "watcher"
  std::string role;  // "worker", "coordinator", "observer"; services decide by it
};

enum class Side : std::uint8_t { Client, Server };

class Handshake {
 public:
  virtual ~Handshake() = default;

  // Bytes to send now; empty when it is the other side's turn.
  virtual Bytes take_output() = 0;
  // Consumes what it needs of `input` and returns how much that was; the rest is the first frame.
  virtual std::size_t feed(ByteView input) = 0;
  virtual bool is_done() const = 0;
  // REQUIRES: is_done().
  virtual const Identity& peer() const = 0;
};

class Credentials {
 public:
  virtual ~Credentials() = default;
  virtual std::unique_ptr<Handshake> begin(Side side) const = 0;
};

}  // namespace trireme::net
