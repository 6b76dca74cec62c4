// Socket owns one descriptor, and a handful of functions use it without ever blocking unasked.
//
// Every socket made here is non-blocking and closed on exec; TCP ones send small messages at once
// (TCP_NODELAY) and notice a vanished host by themselves (keep-alive, about half a minute).
//
// Threads: a Socket is a value with one owner; send and receive may run at once on two threads.
// Failure: receive and send report what happened and never throw, since a closed connection is
//          an everyday event to whoever serves many of them. A dead peer raises no SIGPIPE.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <sys/uio.h>

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/base/descriptor.h"
#include "trireme/net/address.h"

namespace trireme::net {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) noexcept : handle_(descriptor) {}

  int descriptor() const noexcept { return handle_.get(); }
  bool is_open() const noexcept { return static_cast<bool>(handle_); }
  void close() noexcept { handle_.reset(); }
  [[nodiscard]] int release() noexcept { return handle_.release(); }

 private:
  Descriptor handle_;
};

// What one attempt to move bytes came to: some moved, none could yet, or the connection is over.
struct Transfer {
  std::size_t size = 0;
  int error = 0;  // errno; 0 with size 0 is the end of the stream

  bool has_moved() const noexcept { return size > 0; }
  bool must_wait() const noexcept;
  // The end of the stream or an error, in words.
  std::string reason() const;
};

Transfer receive(const Socket& socket, std::span<std::byte> into) noexcept;
Transfer send(const Socket& socket, ByteView bytes) noexcept;
// At most IOV_MAX pieces, in order, as one message.
Transfer send(const Socket& socket, std::span<const iovec> pieces) noexcept;

// Sleeps until one of the poll(2) `events` or an error or hang-up; false when time is up.
bool wait_ready(const Socket& socket, short events, Deadline deadline);

// One attempt. Throws Unreachable when refused, not there or out of time, and Exhausted when this
// process has no descriptor left.
Socket connect(const SocketAddress& address, Deadline deadline);
// The first of them that answers, tried in this order, each within an equal part of the time left.
Socket connect_any(std::span<const SocketAddress> candidates, Deadline deadline);

// "127.0.0.1:50123", "unix", or "unknown" for a connection that is already gone.
std::string peer_text(const Socket& socket);
// This end's address; of a listener, the one that was picked.
SocketAddress local_address(const Socket& socket);

// A new non-blocking socket of this family, prepared as said above. Throws Io or Exhausted.
Socket make_socket(int family);
// For a descriptor that accept(2) returned.
void prepare_stream(const Socket& socket) noexcept;
// A host that vanishes is noticed after so long instead, in whole seconds and at least one.
void limit_silence(const Socket& socket, Duration most) noexcept;

}  // namespace trireme::net
