// Goal:   a port that is held for a server goes to no other process, before the server listens and
//         while it is restarted, and the server gets it.
// Method: sockets on loopback. The server is a listener with SO_REUSEADDR; the other process is a
//         socket without it, to which the kernel applies the rules of a port that it chooses.

#include "trireme/testing/held_port.h"

#include <gtest/gtest.h>

#include "trireme/net/listener.h"

namespace trireme::testing {
namespace {

int error_of_taking(std::uint16_t port) {
  const Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(other.get(), reinterpret_cast<sockaddr*>(&at), sizeof(at)) == 0 ? 0 : errno;
}

TEST(HeldPort, IsForTheServerAlone) {
  const HeldPort port;
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(error_of_taking(port.number()), EADDRINUSE) << "start " << start;
    const net::Listener server(net::Address::tcp("127.0.0.1", port.number()));
    EXPECT_EQ(server.address().port, port.number());
  }
}

TEST(HeldPort, DiffersFromOthers) {
  const HeldPort one, two;
  EXPECT_NE(one.number(), two.number());
}

}  // namespace
}  // namespace trireme::testing
