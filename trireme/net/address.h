// Address is where a component of a job listens: a TCP port or a unix socket in a private folder.
//
//   tcp://127.0.0.1:4711   tcp://[::1]:4711   tcp://node7:4711   unix:/run/user/0/trireme/j/ctl
//
// Port 0 means any free port; the listener reports the one it got. Nothing here opens a connection.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::net {

struct Address {
  enum class Kind { Tcp, Unix };

  Kind kind = Kind::Tcp;
  std::string host;        // tcp: host name or numeric address, without brackets
  std::uint16_t port = 0;  // tcp
  std::string path;        // unix

  // Each throws InvalidInput with a message that shows the format of an address.
  static Address parse(std::string_view text);
  static Address tcp(std::string_view host, std::uint16_t port);
  // Accepts a path of any length: the kernel's limit is 107 bytes, and longer paths are opened
  // through their folder.
  static Address unix_socket(std::string_view path);

  std::string to_text() const;
  friend bool operator==(const Address&, const Address&) = default;
};

// True for a numeric IPv4 or IPv6 address, which needs no resolver: 127.0.0.1, ::1, and also 10.1.
// A name that looks like a hexadecimal number is still a name: c01, ada.
bool is_number(const std::string& host);

// One concrete socket address.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  // The folder of a unix socket whose path is too long for the kernel. The address in `storage` is
  // relative to this descriptor, so it is valid only in this process and while the descriptor is
  // open.
  std::shared_ptr<const Descriptor> folder{};
};

// The current IPv4 and IPv6 addresses of `address`, in the resolver's order. A numeric address is
// returned immediately. A name is resolved on a separate thread; when the deadline passes, the
// caller returns and the thread ends when the host's resolver does. Throws Unreachable for a name
// that does not resolve in time.
inline constexpr std::chrono::seconds kResolveMax{10};
using NameResolver = std::function<std::vector<SocketAddress>(const Address&)>;
std::vector<SocketAddress> resolve(const Address& address,
                                   Deadline deadline = Deadline::after(kResolveMax));
// The same with another resolver than the host's. It is called for names only. The call may return
// before the resolver does, so the resolver must own the data that it needs.
std::vector<SocketAddress> resolve(const Address& address, Deadline deadline,
                                   NameResolver resolver);

// The numeric address without port or brackets; an IPv4-mapped IPv6 address is shown as IPv4. Empty
// for a unix socket.
std::string host_of(const SocketAddress& address);
std::uint16_t port_of(const SocketAddress& address);

// The numeric address at which other hosts reach this one: that of the named interface, or without
// a name, of the first interface that is up and not loopback. The host name is not used because it
// often resolves to 127.0.1.1. Throws NotFound with a list of the interfaces.
std::string host_address(std::string_view interface = {});

// The numeric address that this host would use to reach another host, according to its routing
// table; no packet is sent. Throws Unreachable for a name that does not resolve or a host without a
// route.
std::string address_towards(std::string_view host);

}  // namespace trireme::net
