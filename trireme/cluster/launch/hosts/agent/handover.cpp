#include "trireme/cluster/launch/hosts/agent/handover.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/net/address.h"

namespace trireme::cluster::launch::hosts {
namespace {

constexpr std::size_t kMessageMax = std::size_t{128} << 10;
constexpr int kWires = 2;
constexpr int kWaiting = 8;

Descriptor make_handover_socket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw system_error("socket", errno);
  return socket;
}

net::Address place_of(const std::filesystem::path& folder) {
  return net::Address::unix_socket((folder / "agent.sock").string());
}

// A message whose bytes the caller owns, with space for two descriptors.
struct Letter {
  Letter(std::byte* bytes, std::size_t size) : piece{.iov_base = bytes, .iov_len = size} {
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
  }
  Letter(const Letter&) = delete;
  Letter& operator=(const Letter&) = delete;

  alignas(cmsghdr) std::array<char, CMSG_SPACE(kWires * sizeof(int))> room{};
  iovec piece;
  msghdr message{};
};

bool send_wire(int socket, const LauncherConnection& wire) {
  Bytes text = std::move(ByteWriter().put_text(wire.feed).put_text(wire.rest)).take();
  Letter letter(text.data(), text.size());
  cmsghdr* head = CMSG_FIRSTHDR(&letter.message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(kWires * sizeof(int));
  const std::array<int, kWires> files{wire.input.get(), wire.output.get()};
  std::memcpy(CMSG_DATA(head), files.data(), sizeof(files));
  return sendmsg(socket, &letter.message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Both descriptors of a message, or none.
std::vector<Descriptor> files_in(msghdr& message) {
  std::vector<Descriptor> files;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(head) + i * sizeof(int), sizeof(file));
      files.emplace_back(file);
    }
  }
  return files;
}

// Waits until the other end has sent something or is gone; false: the deadline came first.
bool wait_until_heard(int socket, Deadline deadline) {
  pollfd wait{.fd = socket, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, deadline.poll_timeout()) > 0;
}

}  // namespace

Handover::Handover(const std::filesystem::path& folder) : listener_(make_handover_socket()) {
  const net::Address place = place_of(folder);
  const net::SocketAddress where = net::resolve(place).front();
  const auto* raw = reinterpret_cast<const sockaddr*>(&where.storage);
  if (bind(listener_.get(), raw, where.size) != 0 || listen(listener_.get(), kWaiting) != 0) {
    throw system_error("cannot listen at " + place.to_text(), errno);
  }
}

std::optional<LauncherConnection> Handover::take() const {
  LauncherConnection wire;
  wire.giver = Descriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!wire.giver) return std::nullopt;
  // A peer sends immediately; one that does not is dropped.
  constexpr auto kSendTime = std::chrono::seconds(1);
  if (!wait_until_heard(wire.giver.get(), Deadline::after(kSendTime))) return std::nullopt;
  Bytes text(kMessageMax);
  Letter letter(text.data(), text.size());
  const ssize_t size = recvmsg(wire.giver.get(), &letter.message, MSG_CMSG_CLOEXEC);
  std::vector<Descriptor> files = files_in(letter.message);
  if (size <= 0 || files.size() != kWires || (letter.message.msg_flags & MSG_TRUNC) != 0) {
    return std::nullopt;
  }
  try {
    ByteReader in(ByteView(text).first(static_cast<std::size_t>(size)));
    wire.feed = in.get_text();
    wire.rest = in.get_text();
  } catch (const Error&) {
    return std::nullopt;
  }
  wire.input = std::move(files[0]);
  wire.output = std::move(files[1]);
  // The answer: this process owns the connection from now on.
  const char taken = 1;
  if (send(wire.giver.get(), &taken, 1, MSG_NOSIGNAL) != 1) return std::nullopt;
  return wire;
}

bool Handover::give(const std::filesystem::path& folder, const LauncherConnection& wire,
                    Deadline deadline) {
  const Descriptor socket = make_handover_socket();
  if (!std::filesystem::exists(folder)) return false;
  const net::SocketAddress where = net::resolve(place_of(folder)).front();
  const auto* raw = reinterpret_cast<const sockaddr*>(&where.storage);
  if (connect(socket.get(), raw, where.size) != 0) return false;
  if (!send_wire(socket.get(), wire) || !wait_until_heard(socket.get(), deadline)) return false;
  char taken = 0;
  if (recv(socket.get(), &taken, 1, 0) != 1) return false;
  wait_until_heard(socket.get(), Deadline::never());
  return true;
}

}  // namespace trireme::cluster::launch::hosts
