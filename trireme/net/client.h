// Client is one authenticated connection to a Server, with any number of calls in flight.
//
//   net::Client client(net::Client::Options{.address = a, .credentials = &secret},
//                      Deadline::after(5s));
//   Bytes answer = client.call(kGet, payload, deadline);
//   ReplyStream changes = client.open(kWatch, payload, deadline);
//   while (auto item = changes.next(deadline)) ...
//
// Thread safety: any thread may call; each caller receives its own answer. A Client has no thread
//                of its own: one of the waiting callers reads the socket for all of them, and while
//                no caller waits, nothing is read. A ReplyStream is used by one thread at a time,
//                except that any thread may call cancel().
// Errors:        a lost connection fails every call in flight and every later one with PeerLost
//                (with Protocol if the server sent invalid bytes). A Failure frame is thrown as the
//                Error that the server raised. A deadline cancels only that call; the connection
//                stays open.
// Bounds:        at most `stream_items_max` unread items per stream. While a stream is full, the
//                connection is not read until its consumer takes an item, which causes
//                back-pressure on the server.
// Lifetime:      Streams keep the connection alive; destroying the last handle closes it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/net/address.h"
#include "trireme/net/auth/credentials.h"

namespace trireme::net {

class ClientCore;

class ReplyStream {
 public:
  // The next item, or nothing if the server ended the stream. Throws Deadline, PeerLost, or the
  // server's error.
  std::optional<Bytes> next(Deadline deadline);
  // Tells the server to stop, without waiting, and drops unread items. A next() that waits in
  // another thread returns nothing. The destructor does the same.
  void cancel() noexcept;

  ReplyStream(ReplyStream&&) noexcept;
  ReplyStream& operator=(ReplyStream&&) noexcept;
  ~ReplyStream();

 private:
  friend class Client;
  ReplyStream(std::shared_ptr<ClientCore> core, std::uint64_t id);
  std::shared_ptr<ClientCore> core_;
  std::uint64_t id_ = 0;
};

class Client {
 public:
  struct Options {
    Address address;
    const Credentials* credentials = nullptr;  // used during construction only
    std::size_t stream_items_max = 1024;
    // The connection is lost once the server's host has sent no packet for this long; 0 means the
    // default of Socket, about half a minute. A server that does not answer requests but whose host
    // acknowledges packets is alive.
    Duration silence_max{};
  };

  // Connects and authenticates; retries until the deadline while the connection is refused. Throws
  // Unreachable, Unauthenticated, Protocol or Deadline.
  Client(const Options& options, Deadline deadline);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  Bytes call(std::uint16_t method, ByteView payload, Deadline deadline);
  ReplyStream open(std::uint16_t method, ByteView payload, Deadline deadline);
  // One way, without an answer. Blocks until the kernel has accepted the bytes, so that a slow
  // server slows down the caller.
  void post(std::uint16_t method, ByteView payload, Deadline deadline);

  const Identity& peer() const noexcept;
  // False once the connection is known to be lost; checks the socket without waiting.
  bool is_open() const noexcept;
  // The numeric address of this end: on TCP the address used to reach the server, on a unix socket
  // the loopback address.
  std::string local_host() const;

 private:
  std::shared_ptr<ClientCore> core_;
};

}  // namespace trireme::net
