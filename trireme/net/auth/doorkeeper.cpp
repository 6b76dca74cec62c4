#include "trireme/net/auth/doorkeeper.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

// Accepts at most this many new connections at a time, so that they do not delay existing sessions.
constexpr int kAcceptedAtOnce = 32;
// No handshake message is longer, so an unauthenticated connection never uses more memory than
// this.
constexpr std::size_t kHandshakeAtOnce = 256;
// How long accepting pauses when the process or the system has no descriptor left.
constexpr auto kShortageRest = 20ms;

Descriptor open_spare() {
  return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

bool set_interest(int epoll, int operation, const Socket& socket, std::uint64_t tag,
                  std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  return ::epoll_ctl(epoll, operation, socket.descriptor(), &event) == 0;
}

// The send buffer of a new socket has room for a whole message; if not, the connection is faulty.
bool send_whole(const Socket& socket, ByteView bytes) {
  return bytes.empty() || send(socket, bytes).size == bytes.size();
}

}  // namespace

Doorkeeper::Doorkeeper(const Address& address, Rules rules, int epoll, Log log)
    : rules_(std::move(rules)),
      epoll_(epoll),
      listener_(address),
      log_(std::move(log)),
      spare_(open_spare()) {
  if (!set_interest(epoll_, EPOLL_CTL_ADD, listener_.socket(), kListenerTag, EPOLLIN)) {
    throw system_error("epoll_ctl", errno);
  }
}

void Doorkeeper::on_listener() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const bool is_full = strangers_.size() >= rules_.strangers_max;
    if (is_full) {
      const TimePoint yields_at = strangers_.begin()->second.since + rules_.grace;
      if (steady_clock().now() < yields_at) return rest_until(yields_at);
    }
    Accepted accepted = listener_.accept();
    if (accepted.socket.is_open()) {
      if (is_full) drop(strangers_.begin(), counters_.crowded_out, "gave way to the next one");
      admit(std::move(accepted.socket));
    } else if (accepted.error == EMFILE || accepted.error == ENFILE || accepted.error == ENOBUFS ||
               accepted.error == ENOMEM) {
      return shed();
    } else {
      return;
    }
  }
}

void Doorkeeper::admit(Socket socket) {
  ++counters_.connections;
  const std::uint64_t id = next_id_++;
  const auto [stranger, is_new] = strangers_.emplace(
      id, Stranger{.socket = std::move(socket),
                   .handshake = rules_.credentials->begin(Side::Server, rules_.purpose),
                   .since = steady_clock().now()});
  if (!set_interest(epoll_, EPOLL_CTL_ADD, stranger->second.socket, id, EPOLLIN)) {
    return drop(stranger, counters_.crowded_out, "no room in epoll");
  }
  if (!send_whole(stranger->second.socket, stranger->second.handshake->take_output())) {
    drop(stranger, counters_.refused, "takes no bytes");
  }
}

void Doorkeeper::shed() {
  spare_.reset();
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const Accepted victim = listener_.accept();
    if (!victim.socket.is_open()) break;
    ++counters_.connections;
    ++counters_.crowded_out;
  }
  spare_ = open_spare();
  log_.warn("no descriptor left for newcomers; raise the limit (ulimit -n)", {});
  rest_until(steady_clock().now() + kShortageRest);
}

std::optional<Doorkeeper::Guest> Doorkeeper::on_stranger(std::uint64_t id, bool has_room) {
  const auto at = strangers_.find(id);
  Stranger& stranger = at->second;
  std::array<std::byte, kHandshakeAtOnce> buffer;
  const IoResult got = receive(stranger.socket, buffer);
  if (got.must_wait()) return std::nullopt;
  ByteView input(buffer.data(), got.size);
  const auto fault = got.has_moved() ? converse(stranger, input)
                                     : std::optional<std::string>("left without proving itself");
  if (fault) {
    drop(at, counters_.refused, *fault);
    return std::nullopt;
  }
  if (stranger.handshake->is_done() && !has_room) {
    drop(at, counters_.crowded_out, "has proven itself, but there is no room for a member more");
    return std::nullopt;
  }
  const bool is_known = stranger.handshake->is_done();
  if (is_known && rules_.refusal) {
    if (const auto why = rules_.refusal(stranger.handshake->peer())) {
      drop(at, counters_.refused, *why);
      return std::nullopt;
    }
  }
  if (!send_whole(stranger.socket, stranger.handshake->take_output())) {
    drop(at, counters_.refused, "takes no bytes");
    return std::nullopt;
  }
  if (!is_known) return std::nullopt;
  Guest guest{.id = id,
              .socket = std::move(stranger.socket),
              .identity = stranger.handshake->peer(),
              .rest = Bytes(input.begin(), input.end())};
  strangers_.erase(at);
  listen();
  return guest;
}

std::optional<std::string> Doorkeeper::converse(Stranger& stranger, ByteView& input) {
  try {
    input = input.subspan(stranger.handshake->feed(input));
    return std::nullopt;
  } catch (const std::exception& error) {
    (void)send_whole(stranger.socket, stranger.handshake->take_output());
    return error.what();
  }
}

void Doorkeeper::drop(Strangers::iterator stranger, std::atomic<std::uint64_t>& counter,
                      std::string_view why) {
  ++counter;
  log_.warn("stranger turned away", {{"from", peer_text(stranger->second.socket)}, {"why", why}});
  strangers_.erase(stranger);
  listen();
}

Deadline Doorkeeper::next_deadline() const {
  Deadline next = Deadline::never();
  if (!strangers_.empty()) {
    next = Deadline::at(strangers_.begin()->second.since + rules_.handshake_timeout);
  }
  return resting_until_ ? min(next, Deadline::at(*resting_until_)) : next;
}

void Doorkeeper::on_time() {
  if (strangers_.empty() && !resting_until_) return;
  const TimePoint now = steady_clock().now();
  while (!strangers_.empty() &&
         now - strangers_.begin()->second.since >= rules_.handshake_timeout) {
    drop(strangers_.begin(), counters_.timed_out, "took too long to prove itself");
  }
  if (resting_until_ && now >= *resting_until_) listen();
}

void Doorkeeper::rest_until(TimePoint when) {
  if (set_interest(epoll_, EPOLL_CTL_MOD, listener_.socket(), kListenerTag, 0)) {
    resting_until_ = when;
  }
}

void Doorkeeper::listen() {
  if (!resting_until_) return;
  if (!spare_) spare_ = open_spare();
  if (set_interest(epoll_, EPOLL_CTL_MOD, listener_.socket(), kListenerTag, EPOLLIN)) {
    resting_until_.reset();
  }
}

}  // namespace trireme::net
