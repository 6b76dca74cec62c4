#include "trireme/net/socket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

void set_option(const Socket& socket, int level, int name, int value) noexcept {
  // Fails only for options that do not apply (TCP options on a unix socket), so errors are ignored.
  (void)setsockopt(socket.descriptor(), level, name, &value, sizeof(value));
}

std::string text_of_address(const SocketAddress& address) {
  const std::string host = host_of(address);
  if (host.empty()) return "unix";
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port_of(address));
}

IoResult transfer_of(ssize_t result) noexcept {
  if (result >= 0) return {.size = static_cast<std::size_t>(result), .error = 0};
  return {.size = 0, .error = errno};
}

Error refused(int error_number) {
  return Error(ErrorCode::Unreachable, std::strerror(error_number));
}

}  // namespace

bool IoResult::must_wait() const noexcept {
  return error == EAGAIN || error == EWOULDBLOCK;
}

std::string IoResult::reason() const {
  return error == 0 ? "it closed the connection" : std::strerror(error);
}

IoResult receive(const Socket& socket, std::span<std::byte> into) noexcept {
  ssize_t result;
  do {
    result = ::recv(socket.descriptor(), into.data(), into.size(), MSG_DONTWAIT);
  } while (result < 0 && errno == EINTR);
  return transfer_of(result);
}

IoResult send(const Socket& socket, ByteView bytes) noexcept {
  ssize_t result;
  do {
    result = ::send(socket.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (result < 0 && errno == EINTR);
  return transfer_of(result);
}

IoResult send(const Socket& socket, std::span<const iovec> pieces) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  ssize_t result;
  do {
    result = ::sendmsg(socket.descriptor(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (result < 0 && errno == EINTR);
  return transfer_of(result);
}

bool wait_ready(const Socket& socket, short events, Deadline deadline) {
  pollfd entry{.fd = socket.descriptor(), .events = events, .revents = 0};
  while (true) {
    const int count = ::poll(&entry, 1, deadline.poll_timeout());
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) throw system_error("poll", errno);
    if (deadline.is_past()) return false;
  }
}

Socket connect(const SocketAddress& address, Deadline deadline) {
  Socket socket = make_socket(address.storage.ss_family);
  const auto* raw = reinterpret_cast<const sockaddr*>(&address.storage);
  if (::connect(socket.descriptor(), raw, address.size) == 0) return socket;
  if (errno != EINPROGRESS && errno != EINTR) throw refused(errno);
  if (!wait_ready(socket, POLLOUT, deadline)) {
    throw Error(ErrorCode::Unreachable, "no answer in time");
  }
  int outcome = 0;
  socklen_t size = sizeof(outcome);
  if (getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &outcome, &size) != 0) {
    throw system_error("getsockopt", errno);
  }
  if (outcome != 0) throw refused(outcome);
  return socket;
}

// Each candidate gets an equal share of the remaining time, so that an address that drops packets
// does not use up the time of the others.
Socket connect_any(std::span<const SocketAddress> candidates, Deadline deadline) {
  std::optional<Error> failure;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto left = static_cast<Duration::rep>(candidates.size() - i);
    const Deadline turn =
        deadline.is_never() ? deadline : Deadline::after(deadline.remaining() / left);
    try {
      return connect(candidates[i], turn);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Unreachable) throw;
      failure = error;
    }
  }
  throw failure.value_or(Error(ErrorCode::Unreachable, "the name stands for no address"));
}

std::string peer_text(const Socket& socket) {
  SocketAddress address;
  address.size = sizeof(address.storage);
  auto* raw = reinterpret_cast<sockaddr*>(&address.storage);
  if (getpeername(socket.descriptor(), raw, &address.size) != 0) return "unknown";
  return text_of_address(address);
}

SocketAddress local_address(const Socket& socket) {
  SocketAddress address;
  address.size = sizeof(address.storage);
  auto* raw = reinterpret_cast<sockaddr*>(&address.storage);
  if (getsockname(socket.descriptor(), raw, &address.size) != 0) {
    throw system_error("getsockname", errno);
  }
  return address;
}

Socket make_socket(int family) {
  Socket socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) throw system_error("cannot make a socket", errno);
  prepare_stream(socket);
  return socket;
}

void prepare_stream(const Socket& socket) noexcept {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  limit_silence(socket, std::chrono::seconds(30));
}

// The first probe is sent after a third of the time without data; further probes follow.
void limit_silence(const Socket& socket, Duration most) noexcept {
  constexpr int kQuestions = 4;
  const auto seconds =
      static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(most).count());
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(seconds / 3, 1));
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(seconds / 6, 1));
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
  // Keep-alive sends no probes while data is unacknowledged; this option covers that case.
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, std::max(seconds, 1) * 1000);
}

}  // namespace trireme::net
