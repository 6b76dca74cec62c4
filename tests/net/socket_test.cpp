// Goal:   sockets connect, transfer bytes and report closed connections without blocking or
//         signals.
// Method: pairs over a Listener on loopback and at a path; refused and silent addresses, with
//         measured times.

#include "trireme/net/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <chrono>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/net/listener.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

struct Pair {
  Socket left;
  Socket right;
};

Pair make_pair_at(const Address& address) {
  Listener listener(address);
  Pair out;
  out.left = connect(resolve(listener.address()).front(), Deadline::after(5s));
  EXPECT_TRUE(wait_ready(listener.socket(), POLLIN, Deadline::after(5s)));
  out.right = listener.accept().socket;
  return out;
}

TEST(Socket, TransfersBytesInBothDirections) {
  const TemporaryFolder folder("socket-test");
  for (const Address& address :
       {Address::tcp("127.0.0.1", 0), Address::unix_socket((folder.path() / "s").string())}) {
    const Pair pair = make_pair_at(address);
    ASSERT_TRUE(pair.right.is_open());
    std::byte buffer[16];
    EXPECT_TRUE(receive(pair.right, buffer).must_wait());
    EXPECT_FALSE(wait_ready(pair.right, POLLIN, Deadline::after(0s)));
    EXPECT_EQ(send(pair.left, bytes_of("hello")).size, 5u);
    ASSERT_TRUE(wait_ready(pair.right, POLLIN, Deadline::after(5s)));
    const IoResult got = receive(pair.right, buffer);
    EXPECT_EQ(text_of({buffer, got.size}), "hello");

    std::string first = "two ";
    std::string second = "pieces";
    const iovec pieces[] = {{first.data(), first.size()}, {second.data(), second.size()}};
    EXPECT_EQ(send(pair.right, pieces).size, 10u);
    ASSERT_TRUE(wait_ready(pair.left, POLLIN, Deadline::after(5s)));
    EXPECT_EQ(text_of({buffer, receive(pair.left, buffer).size}), "two pieces");
  }
}

TEST(Socket, AnEndIsReportedAndRaisesNoSignal) {
  Pair pair = make_pair_at(Address::tcp("127.0.0.1", 0));
  pair.right.close();
  ASSERT_TRUE(wait_ready(pair.left, POLLIN, Deadline::after(5s)));
  std::byte buffer[4];
  const IoResult end = receive(pair.left, buffer);
  EXPECT_FALSE(end.has_moved());
  EXPECT_FALSE(end.must_wait());
  EXPECT_EQ(end.reason(), "it closed the connection");
  // The first send causes the reset; a later one sees it.
  const Deadline deadline = Deadline::after(5s);
  while (send(pair.left, bytes_of("x")).has_moved()) {
    ASSERT_FALSE(deadline.is_past());
    wait_ready(pair.left, POLLERR, Deadline::after(1ms));
  }
}

TEST(Socket, DisablesNagleAndClosesOnExec) {
  const Pair pair = make_pair_at(Address::tcp("127.0.0.1", 0));
  for (const Socket* each : {&pair.left, &pair.right}) {
    int value = 0;
    socklen_t size = sizeof(value);
    ASSERT_EQ(getsockopt(each->descriptor(), IPPROTO_TCP, TCP_NODELAY, &value, &size), 0);
    EXPECT_EQ(value, 1);
    EXPECT_NE(fcntl(each->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(fcntl(each->descriptor(), F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST(Socket, ReportsTheAddressesOfBothEnds) {
  const Pair pair = make_pair_at(Address::tcp("127.0.0.1", 0));
  const SocketAddress left = local_address(pair.left);
  EXPECT_EQ(host_of(left), "127.0.0.1");
  EXPECT_EQ(peer_text(pair.right), "127.0.0.1:" + std::to_string(port_of(left)));
  EXPECT_EQ(peer_text(Socket()), "unknown");
}

TEST(Connect, ReportsWhyItFailed) {
  Address gone;
  {
    Listener listener(Address::tcp("127.0.0.1", 0));
    gone = listener.address();
  }
  for (const Address& address : {gone, Address::unix_socket("/nonexistent/socket")}) {
    try {
      connect(resolve(address).front(), Deadline::after(5s));
      ADD_FAILURE() << "connected to " << address.to_text();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unreachable);
      EXPECT_FALSE(error.message().empty());
    }
  }
}

TEST(Connect, GivesUpAtItsDeadline) {
  // With a full backlog, further connection attempts are not answered.
  Listener listener(Address::tcp("127.0.0.1", 0));
  ASSERT_EQ(::listen(listener.socket().descriptor(), 0), 0);
  const SocketAddress where = resolve(listener.address()).front();
  std::vector<Socket> waiting;
  const TimePoint begun = steady_clock().now();
  const auto fill = [&] {
    for (int i = 0; i < 8; ++i) waiting.push_back(connect(where, Deadline::after(150ms)));
  };
  EXPECT_THROW(fill(), Error);
  EXPECT_LT(waiting.size(), 8u);
  EXPECT_GE(steady_clock().now() - begun, 150ms);
}

}  // namespace
}  // namespace trireme::net
