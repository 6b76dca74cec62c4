// RawPeer is one end of a connection that sends arbitrary bytes.

#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "trireme/net/auth/credentials.h"
#include "trireme/net/socket.h"

namespace trireme::net {

class RawPeer {
 public:
  explicit RawPeer(const Address& address)
      : RawPeer(connect(resolve(address).front(), Deadline::after(std::chrono::seconds(10)))) {}
  explicit RawPeer(Socket socket) : socket_(std::move(socket)) {}

  // Returns false if the other end closed the connection.
  bool say(ByteView bytes) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(10));
    while (!bytes.empty()) {
      const IoResult sent = send(socket_, bytes);
      if (sent.has_moved()) {
        bytes = bytes.subspan(sent.size);
      } else if (!sent.must_wait() || !wait_ready(socket_, POLLOUT, deadline)) {
        return false;
      }
    }
    return true;
  }

  // Returns at least one byte, or none if the other end closed the connection or the deadline
  // passed.
  Bytes hear(Deadline deadline = Deadline::after(std::chrono::seconds(10))) {
    std::array<std::byte, 4096> buffer;
    while (true) {
      const IoResult got = receive(socket_, buffer);
      if (got.has_moved()) return Bytes(buffer.begin(), buffer.begin() + got.size);
      if (!got.must_wait() || !wait_ready(socket_, POLLIN, deadline)) return {};
    }
  }

  // Reads until the other end closes the connection.
  bool is_hung_up_by(Deadline deadline) {
    while (!hear(deadline).empty()) {
    }
    std::byte probe;
    return !receive(socket_, {&probe, 1}).must_wait();
  }

  // Runs a complete handshake; returns false if the other end closes the connection.
  bool shake(Handshake& handshake) {
    say(handshake.take_output());
    while (!handshake.is_done()) {
      const Bytes input = hear();
      if (input.empty()) return false;
      handshake.feed(input);
      say(handshake.take_output());
    }
    return true;
  }

  // The next close() sends a reset instead of an orderly shutdown.
  void reset_on_close() {
    const linger option{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_.descriptor(), SOL_SOCKET, SO_LINGER, &option, sizeof(option));
  }

  Socket& socket() { return socket_; }

 private:
  Socket socket_;
};

}  // namespace trireme::net
