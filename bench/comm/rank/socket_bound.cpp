// The network bound: whole buffers in both directions at the same time over one plain TCP
// connection.

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/comm/rank/bound.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/net/listener.h"
#include "trireme/net/socket.h"

namespace trireme::bench {
namespace {

constexpr auto kTimeMax = std::chrono::seconds(120);

using Ticket = std::array<std::byte, 16>;

// The address on which a rank listens, and the ticket that identifies its partner, because any
// process may connect.
struct Door {
  std::array<char, 48> host{};
  std::uint32_t port = 0;
  Ticket ticket{};
};

// Sends and receives at the same time until all bytes are transferred.
class DuplexTransfer {
 public:
  DuplexTransfer(const net::Socket& socket, ByteView out, std::span<std::byte> in)
      : socket_(socket), out_(out), in_(in) {}

  void run(Deadline deadline) {
    while (sent_ < out_.size() || received_ < in_.size()) {
      const bool moved = send_some() | receive_some();
      if (moved) continue;
      const int events =
          (sent_ < out_.size() ? POLLOUT : 0) | (received_ < in_.size() ? POLLIN : 0);
      if (!net::wait_ready(socket_, static_cast<short>(events), deadline)) {
        throw Error(ErrorCode::Deadline, "the raw socket exchange stood still");
      }
    }
  }

 private:
  bool send_some() {
    if (sent_ == out_.size()) return false;
    return count(net::send(socket_, out_.subspan(sent_)), sent_);
  }
  bool receive_some() {
    if (received_ == in_.size()) return false;
    return count(net::receive(socket_, in_.subspan(received_)), received_);
  }
  static bool count(const net::IoResult& moved, std::size_t& total) {
    if (!moved.has_moved() && !moved.must_wait()) {
      throw Error(ErrorCode::PeerLost, "the raw socket exchange broke: " + moved.reason());
    }
    total += moved.size;
    return moved.has_moved();
  }

  const net::Socket& socket_;
  ByteView out_;
  std::span<std::byte> in_;
  std::size_t sent_ = 0, received_ = 0;
};

std::vector<Door> share_doors(const comm::Group& group, const Door& mine) {
  std::vector<Door> doors(static_cast<std::size_t>(group.size()));
  const comm::ConstSpan piece(&mine, sizeof(Door), comm::DType::UInt8);
  const comm::Span all{doors.data(), doors.size() * sizeof(Door), comm::DType::UInt8};
  group.all_gather(all, piece).wait();
  return doors;
}

net::Socket let_in(net::Listener& listener, const Ticket& ticket, Deadline deadline) {
  while (net::wait_ready(listener.socket(), POLLIN, deadline)) {
    net::Accepted accepted = listener.accept();
    if (!accepted.socket.is_open()) continue;
    net::prepare_stream(accepted.socket);
    Ticket shown{};
    try {
      DuplexTransfer(accepted.socket, {}, shown).run(min(deadline, Deadline::after(kTimeMax / 10)));
    } catch (const Error&) {
      continue;
    }
    if (shown == ticket) return std::move(accepted.socket);
  }
  throw Error(ErrorCode::Deadline, "nobody came for the raw socket exchange");
}

// The even rank of a pair listens, the odd one connects; they exchange addresses through the group.
net::Socket pair_up(const comm::Group& group, const std::string& host) {
  const Deadline deadline = Deadline::after(kTimeMax);
  net::Listener listener(net::Address::tcp(host, 0));
  Door mine;
  std::memcpy(mine.host.data(), host.data(), std::min(host.size(), mine.host.size() - 1));
  mine.port = listener.address().port;
  secure_random(mine.ticket);
  const std::vector<Door> doors = share_doors(group, mine);
  const int partner = group.rank() ^ 1;
  if (partner >= group.size()) return {};
  if (group.rank() < partner) return let_in(listener, mine.ticket, deadline);
  const Door& door = doors[static_cast<std::size_t>(partner)];
  const auto where =
      net::resolve(net::Address::tcp(door.host.data(), static_cast<std::uint16_t>(door.port)));
  net::Socket socket = net::connect(where.front(), deadline);
  DuplexTransfer(socket, door.ticket, {}).run(deadline);
  return socket;
}

std::size_t largest_on_any(const comm::Group& group, std::size_t size) {
  std::vector<std::int64_t> largest{static_cast<std::int64_t>(size)};
  group.all_reduce(comm::span(largest), comm::ReduceOp::Max).wait();
  return static_cast<std::size_t>(largest[0]);
}

class SocketBound final : public Bound {
 public:
  SocketBound(net::Socket socket, std::size_t size)
      : socket_(std::move(socket)), out_(size), in_(size) {}

  std::string name() const override { return "raw socket exchange"; }
  bool takes_part() const override { return socket_.is_open(); }
  void run() override { DuplexTransfer(socket_, out_, in_).run(Deadline::after(kTimeMax)); }

 private:
  net::Socket socket_;
  Bytes out_, in_;
};

}  // namespace

std::unique_ptr<Bound> make_socket_bound(const comm::Group& group, const Exercise& exercise,
                                         const std::string& host) {
  const std::size_t size = largest_on_any(group, exercise.bytes_received());
  return std::make_unique<SocketBound>(pair_up(group, host), size);
}

}  // namespace trireme::bench
