// Socket owns one descriptor. The functions below never block unless they take a Deadline.
//
// Every socket created here is non-blocking and close-on-exec. TCP sockets send small messages
// immediately (TCP_NODELAY) and detect a vanished host by keep-alive within about half a minute.
//
// Thread safety: a Socket is a value with one owner; one thread may send while another receives.
// Errors:        receive and send report the outcome and never throw, because closed connections
//                are normal for a server. Sending to a dead peer raises no SIGPIPE.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <sys/uio.h>

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"
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

// The result of one send or receive: some bytes moved, none could be moved yet, or the connection
// ended.
struct IoResult {
  std::size_t size = 0;
  int error = 0;  // errno; 0 with size 0 is the end of the stream

  bool has_moved() const noexcept { return size > 0; }
  bool must_wait() const noexcept;
  // Describes the end of the stream or the error.
  std::string reason() const;
};

IoResult receive(const Socket& socket, std::span<std::byte> into) noexcept;
IoResult send(const Socket& socket, ByteView bytes) noexcept;
// Sends at most IOV_MAX pieces, in order, as one message.
IoResult send(const Socket& socket, std::span<const iovec> pieces) noexcept;

// Waits until one of the poll(2) `events`, an error or a hang-up; returns false if the deadline
// passes.
bool wait_ready(const Socket& socket, short events, Deadline deadline);

// Makes one attempt. Throws Unreachable if it is refused, the path does not exist or the deadline
// passes, and Exhausted if this process has no descriptor left.
Socket connect(const SocketAddress& address, Deadline deadline);
// Tries the candidates in order and returns the first connection; each gets an equal share of the
// remaining time.
Socket connect_any(std::span<const SocketAddress> candidates, Deadline deadline);

// "127.0.0.1:50123", "unix", or "unknown" if the connection has already ended.
std::string peer_text(const Socket& socket);
// The address of this end; for a listener, the one actually bound.
SocketAddress local_address(const Socket& socket);

// A new non-blocking socket of this family with the options described above. Throws Io or
// Exhausted.
Socket make_socket(int family);
// Sets the same options on a descriptor that accept(2) returned.
void prepare_stream(const Socket& socket) noexcept;
// Replaces the time after which a silent host counts as vanished; whole seconds, at least one.
void limit_silence(const Socket& socket, Duration most) noexcept;

}  // namespace trireme::net
