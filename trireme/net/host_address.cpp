#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/net/address.h"

namespace trireme::net {
namespace {

struct InterfaceAddress {
  std::string interface;
  std::string host;
  bool is_loopback = false;
  bool is_v4 = false;
};

// A link-local IPv6 address is useless on other hosts, because it requires this host's interface
// name.
bool is_link_local(const SocketAddress& address) {
  if (address.storage.ss_family != AF_INET6) return false;
  sockaddr_in6 raw;
  std::memcpy(&raw, &address.storage, sizeof(raw));
  return IN6_IS_ADDR_LINKLOCAL(&raw.sin6_addr);
}

std::vector<InterfaceAddress> list_interfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) throw system_error("cannot list network interfaces", errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  std::vector<InterfaceAddress> out;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    SocketAddress address;
    address.size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&address.storage, each->ifa_addr, address.size);
    if (is_link_local(address)) continue;
    out.push_back({.interface = each->ifa_name,
                   .host = host_of(address),
                   .is_loopback = (each->ifa_flags & IFF_LOOPBACK) != 0,
                   .is_v4 = family == AF_INET});
  }
  return out;
}

std::string describe(const std::vector<InterfaceAddress>& all) {
  std::string out;
  for (const InterfaceAddress& each : all) {
    out += (out.empty() ? "" : ", ") + each.interface + " (" + each.host + ")";
  }
  return out.empty() ? "none" : out;
}

}  // namespace

std::string host_address(std::string_view interface) {
  const std::vector<InterfaceAddress> all = list_interfaces();
  const InterfaceAddress* best = nullptr;
  for (const InterfaceAddress& each : all) {
    const bool fits = interface.empty() ? !each.is_loopback : each.interface == interface;
    // Prefer IPv4: hosts of a cluster with both families usually reach it without further
    // configuration.
    if (fits && (best == nullptr || (each.is_v4 && !best->is_v4))) best = &each;
  }
  if (best != nullptr) return best->host;
  const std::string wanted =
      interface.empty() ? "no network interface other than loopback is up"
                        : "no interface '" + std::string(interface) + "' is up with an address";
  throw Error(ErrorCode::NotFound, wanted + "; there are: " + describe(all));
}

std::string address_towards(std::string_view host) {
  // A connected datagram socket has a local address even though no datagram was sent.
  constexpr std::uint16_t kAnyPort = 9;
  int failure = 0;
  for (const SocketAddress& there : resolve(Address::tcp(host, kAnyPort))) {
    const Descriptor socket(::socket(there.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto* to = reinterpret_cast<const sockaddr*>(&there.storage);
    SocketAddress here;
    here.size = sizeof(here.storage);
    auto* from = reinterpret_cast<sockaddr*>(&here.storage);
    if (socket && ::connect(socket.get(), to, there.size) == 0 &&
        ::getsockname(socket.get(), from, &here.size) == 0) {
      return host_of(here);
    }
    failure = errno;
  }
  throw Error(ErrorCode::Unreachable,
              "no way leads to " + std::string(host) + ": " + std::strerror(failure));
}

}  // namespace trireme::net
