// Goal:   requests are sent completely, replies are received completely or in pieces, and every
//         wait ends.
// Method: a listener in the test that sends scripted replies.

#include "trireme/net/http/http_connection.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <future>

#include "trireme/base/error.h"
#include "trireme/net/listener.h"
#include "trireme/testing/code_of.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;
using testing::code_of;

Deadline soon() {
  return Deadline::after(20s);
}

class HttpPeer : public ::testing::Test {
 protected:
  Socket accept() {
    wait_ready(listener.socket(), POLLIN, soon());
    return listener.accept().socket;
  }
  static void say(const Socket& peer, std::string_view text) {
    ASSERT_EQ(::send(peer.descriptor(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  static std::string hear(const Socket& peer, std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t got = 0; got < size;) {
      if (!wait_ready(peer, POLLIN, soon())) break;
      const ssize_t more = ::recv(peer.descriptor(), text.data() + got, size - got, 0);
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    return text;
  }

  Listener listener{Address::tcp("127.0.0.1", 0)};
  HttpConnection connection{listener.address(), soon()};
  Socket peer = accept();
};

TEST_F(HttpPeer, ReusesTheConnection) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(connection.can_go_on());
    auto reply = std::async(std::launch::async, [&] {
      return connection.post({.path = "/a", .body = "{}", .fields = "X: y\r\n"}, soon());
    });
    const std::string wanted =
        "POST /a HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(listener.address().port) +
        "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        "X: y\r\n\r\n{}";
    EXPECT_EQ(hear(peer, wanted.size()), wanted);
    say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    const auto got = reply.get();
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, "ok");
  }
  peer.close();
  EXPECT_FALSE(connection.can_go_on());
}

TEST_F(HttpPeer, AReplyWithoutEndIsReadInPieces) {
  auto status = std::async(std::launch::async, [&] {
    return connection.start({.path = "/w", .body = "", .fields = {}}, soon());
  });
  say(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(status.get(), 200);
  EXPECT_EQ(code_of([&] { connection.read(Deadline::after(20ms)); }), ErrorCode::Deadline);
  say(peer, "3\r\none\r\n");
  EXPECT_EQ(connection.read(soon()), "one") << "a deadline loses nothing";
  say(peer, "0\r\n\r\n");
  EXPECT_EQ(connection.read(soon()), "");
  EXPECT_TRUE(connection.can_go_on());
}

TEST_F(HttpPeer, EveryFailureHasItsOwnError) {
  const HttpConnection::Request request{.path = "/", .body = "{}", .fields = {}};
  EXPECT_EQ(code_of([&] { connection.post(request, Deadline::after(20ms)); }), ErrorCode::Deadline);
  EXPECT_FALSE(connection.can_go_on()) << "an answer may still come";
  HttpConnection lost(listener.address(), soon());
  accept().close();
  EXPECT_EQ(code_of([&] { lost.post(request, soon()); }), ErrorCode::PeerLost);
  HttpConnection strange(listener.address(), soon());
  const Socket other = accept();
  say(other, "220 smtp.example.org\r\n");
  EXPECT_EQ(code_of([&] { strange.post(request, soon()); }), ErrorCode::Protocol);
  EXPECT_EQ(code_of([] { HttpConnection(Address::tcp("127.0.0.1", 1), soon()); }),
            ErrorCode::Unreachable);
}

}  // namespace
}  // namespace trireme::net
