// Listener is a socket that accepts connections, on TCP or at a unix socket path.
//
// TCP:           tcp://[::]:PORT accepts IPv4 and IPv6 on every interface, whatever the host's
//                default; on a host without IPv6 it accepts IPv4.
// Unix:          the socket is created with mode 0600. A path left by a dead process is replaced; a
//                path that a live process serves, or that is not a socket, is an error. If several
//                processes start at the same time, one succeeds.
// Errors:        Io, Exhausted or InvalidInput, with the address.
// Thread safety: one thread at a time.
// Lifetime:      the destructor stops listening and removes the path if it still belongs to this
//                listener.

#pragma once

#include <sys/types.h>

#include "trireme/net/address.h"
#include "trireme/net/socket.h"

namespace trireme::net {

struct Accepted {
  Socket socket;  // closed if no connection was accepted; see `error`
  int error = 0;  // EAGAIN if no connection is pending; EMFILE, ENFILE and others as accept4(2)
};

class Listener {
 public:
  explicit Listener(const Address& address);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // With the actual port; a host name is replaced by the numeric address it resolved to.
  const Address& address() const noexcept { return address_; }
  const Socket& socket() const noexcept { return socket_; }

  // Never blocks.
  Accepted accept() noexcept;

 private:
  void listen_tcp();
  void listen_unix();

  Address address_;
  Socket socket_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace trireme::net
