// Client is one authenticated connection to a Server, with any number of calls in flight.
//
//   net::Client client(net::Client::Options{.address = a, .credentials = &secret},
//                      Deadline::after(5s));
//   Bytes answer = client.call(kGet, payload, deadline);
//   Stream changes = client.open(kWatch, payload, deadline);
//   while (auto item = changes.next(deadline)) ...
//
// Threads: any thread may call; answers find their caller. A Client has no thread of its own:
//          whoever waits reads, for all who wait, and while nobody waits nothing is read. One
//          thread at a time a Stream, but cancel() from any.
// Failure: a lost connection fails every call in flight and every later one with PeerLost
//          (Protocol, if the server sent bytes that no server sends). A Failure frame is thrown
//          as the Error that the server raised. A deadline cancels that call alone; the
//          connection lives on.
// Bounds:  at most `stream_items_max` unread items a stream: beyond it nobody reads that
//          connection until somebody takes one, which the server feels as back-pressure.
// Lifetime: Streams keep the connection alive; destroying the last handle closes it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/net/address.h"
#include "trireme/net/credentials.h"

namespace trireme::net {

class ClientCore;

class Stream {
 public:
  // The next item, or nothing when the server ended the stream. Throws Deadline, PeerLost, or
  // the server's error.
  std::optional<Bytes> next(Deadline deadline);
  // Tells the server to stop, at once and without waiting, and drops what was not read. A next()
  // in another thread returns nothing. Also done by the destructor.
  void cancel() noexcept;

  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

 private:
  friend class Client;
  Stream(std::shared_ptr<ClientCore> core, std::uint64_t id);
  std::shared_ptr<ClientCore> core_;
  std::uint64_t id_ = 0;
};

class Client {
 public:
  struct Options {
    Address address;
    const Credentials* credentials = nullptr;  // used during construction only
    std::size_t stream_items_max = 1024;
    // The connection is lost once the server's host has given no sign of life for so long; 0: once
    // the kernel thinks so. A server that only does not answer is alive.
    Duration silence_max{};
  };

  // Connects and authenticates; keeps trying while the address refuses, until the deadline.
  // Throws Unreachable, Unauthenticated, Protocol or Deadline.
  Client(const Options& options, Deadline deadline);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  Bytes call(std::uint16_t method, ByteView payload, Deadline deadline);
  Stream open(std::uint16_t method, ByteView payload, Deadline deadline);
  // One way. Blocks until the bytes are with the kernel, so that a slow server slows the caller.
  void post(std::uint16_t method, ByteView payload, Deadline deadline);

  const Identity& peer() const noexcept;
  // False once the connection is known to be lost; looks at the socket, without waiting.
  bool is_open() const noexcept;
  // The numeric address of our end: on TCP the one by which we reach the server, on a unix socket
  // loopback.
  std::string local_host() const;

 private:
  std::shared_ptr<ClientCore> core_;
};

}  // namespace trireme::net
