#include "trireme/net/dial.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPauseMin = 1ms;
constexpr Duration kPauseMax = 50ms;

// The server closed the connection before it authenticated; the next attempt may succeed.
Error hung_up(const IoResult& transfer) {
  return Error(ErrorCode::Unreachable,
               "the server ended the handshake (" + transfer.reason() + ")");
}

void send_all(const Socket& socket, ByteView bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const IoResult sent = send(socket, bytes);
    if (sent.has_moved()) {
      bytes = bytes.subspan(sent.size);
    } else if (!sent.must_wait()) {
      throw hung_up(sent);
    } else if (!wait_ready(socket, POLLOUT, deadline)) {
      throw Error(ErrorCode::Deadline, "the server took the connection and reads nothing");
    }
  }
}

Dialed authenticate(Socket socket, std::unique_ptr<Handshake> handshake, Deadline deadline) {
  std::array<std::byte, 256> buffer;
  ByteView rest;
  send_all(socket, handshake->take_output(), deadline);
  while (!handshake->is_done()) {
    const IoResult got = receive(socket, buffer);
    if (got.has_moved()) {
      const ByteView input(buffer.data(), got.size);
      rest = input.subspan(handshake->feed(input));
      send_all(socket, handshake->take_output(), deadline);
    } else if (!got.must_wait()) {
      throw hung_up(got);
    } else if (!wait_ready(socket, POLLIN, deadline)) {
      throw Error(ErrorCode::Deadline, "the server took the connection and never answered");
    }
  }
  return {.socket = std::move(socket),
          .peer = handshake->peer(),
          .rest = Bytes(rest.begin(), rest.end())};
}

// Includes the error of the previous attempt, which is often more informative.
Error explain(const Address& address, const Error& error, const std::optional<Error>& before) {
  const Error out(error.code(), "cannot connect to " + address.to_text() + ": " + error.message());
  return before && error.code() == ErrorCode::Deadline ? out.with_cause(before->message()) : out;
}

}  // namespace

Dialed dial(const Address& address, const Credentials& credentials, Deadline deadline,
            std::string_view purpose) {
  Duration pause = kPauseMin;
  std::optional<Error> before;
  while (true) {
    try {
      return authenticate(connect_any(resolve(address, deadline), deadline),
                          credentials.begin(Side::Client, purpose), deadline);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Unreachable || deadline.is_past()) {
        throw explain(address, error, before);
      }
      before = error;
    }
    std::this_thread::sleep_for(std::min(pause, deadline.remaining()));
    pause = std::min(2 * pause, kPauseMax);
  }
}

}  // namespace trireme::net
