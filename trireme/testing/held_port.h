// HeldPort is a TCP port of this host for a server that a test starts, such as sshd. No other
// process gets it, neither before the server listens nor while the server is restarted: the port
// is bound here, but this process does not listen.
//
// The server must set SO_REUSEADDR, as sshd, etcd and Slurm do.
//
// Errors:        Io if no port is free.
// Lifetime:      the port is given back with the object, or when the process ends.
// Thread safety: a constant.

#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::testing {

class HeldPort {
 public:
  HeldPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    sockaddr_in any{};  // all addresses, and the kernel chooses the port
    any.sin_family = AF_INET;
    auto* address = reinterpret_cast<sockaddr*>(&any);
    socklen_t size = sizeof(any);
    const bool is_held =
        socket_ && ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
        ::bind(socket_.get(), address, size) == 0 &&
        ::getsockname(socket_.get(), address, &size) == 0;
    if (!is_held) throw system_error("cannot hold a TCP port for a server", errno);
    number_ = ntohs(any.sin_port);
  }

  std::uint16_t number() const noexcept { return number_; }

 private:
  Descriptor socket_;
  std::uint16_t number_ = 0;
};

}  // namespace trireme::testing
