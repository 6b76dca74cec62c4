// Listener is a socket that waits for connections, on TCP or at a path.
//
// TCP:      tcp://[::]:PORT serves both families on every interface, whatever the host's default;
// on
//           a host without IPv6 it serves the other one.
// Unix:     the socket is born with mode 0600. A path left behind by a dead process is replaced;
//           one that a living process serves, or that is no socket, is an error. Of several that
//           start at once one wins.
// Failure:  Io, Exhausted or InvalidInput, naming the address.
// Threads:  one at a time.
// Lifetime: the destructor stops listening and removes the path, if it still is this listener's.

#pragma once

#include <sys/types.h>

#include "trireme/net/address.h"
#include "trireme/net/socket.h"

namespace trireme::net {

struct Accepted {
  Socket socket;  // closed: none was there, or `error` says why none could be had
  int error = 0;  // EAGAIN when nobody waits; EMFILE, ENFILE and others as accept4(2)
};

class Listener {
 public:
  explicit Listener(const Address& address);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // With the port that was picked; a host name is replaced by the number it stood for.
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
