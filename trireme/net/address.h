// Address is where a job's parts listen: a TCP port or a socket in a private folder.
//
//   tcp://127.0.0.1:4711   tcp://[::1]:4711   tcp://node7:4711   unix:/run/user/0/trireme/j/ctl
//
// Port 0 means "any free one"; the listener says which it got. Nothing here opens a socket.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include "trireme/base/deadline.h"

namespace trireme::net {

struct Address {
  enum class Kind { Tcp, Unix };

  Kind kind = Kind::Tcp;
  std::string host;        // tcp: name or number, without brackets
  std::uint16_t port = 0;  // tcp
  std::string path;        // unix

  // Each throws InvalidInput, saying what an address looks like.
  static Address parse(std::string_view text);
  static Address tcp(std::string_view host, std::uint16_t port);
  static Address unix_socket(std::string_view path);

  std::string to_text() const;
  friend bool operator==(const Address&, const Address&) = default;
};

// An IPv4 or IPv6 number, which stands for itself and asks no resolver: 127.0.0.1, ::1, and also
// 10.1. Names may consist of the letters of numbers: c01, ada.
bool is_number(const std::string& host);

// One concrete socket address.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// What the address stands for now, IPv4 and IPv6, in the resolver's order. A number is answered at
// once; a name is asked for on a thread of its own, which the deadline leaves to the end that the
// host's resolver comes to by itself.
// Throws Unreachable for a name that does not resolve, or not in time.
inline constexpr std::chrono::seconds kResolveMax{10};
using Resolver = std::function<std::vector<SocketAddress>(const Address&)>;
std::vector<SocketAddress> resolve(const Address& address,
                                   Deadline deadline = Deadline::after(kResolveMax));
// The same with another resolver than the host's. It is called for names only, and may outlive the
// call: it owns what it needs.
std::vector<SocketAddress> resolve(const Address& address, Deadline deadline, Resolver resolver);

// The numeric form, without port or brackets; an IPv4 address in IPv6 clothes is shown as IPv4.
// Empty for a unix socket.
std::string host_of(const SocketAddress& address);
std::uint16_t port_of(const SocketAddress& address);

// The numeric address at which other hosts reach this one: that of the named interface, or, with
// no name, the first that is up and not loopback. A host name is not asked, since it often
// resolves to 127.0.1.1. Throws NotFound and lists the interfaces there are.
std::string host_address(std::string_view interface = {});

// The numeric address that this host has on its way to another, by the routes it knows; nothing is
// sent. Throws Unreachable for a name that does not resolve or a host that no route leads to.
std::string address_towards(std::string_view host);

}  // namespace trireme::net
