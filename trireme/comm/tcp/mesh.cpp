#include "trireme/comm/tcp/mesh.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::comm::tcp {
namespace {

constexpr std::uint64_t kWakeToken = ~std::uint64_t{0};

}  // namespace

TcpMessenger::TcpMessenger(int rank, std::vector<Connected> connections, bool checksums)
    : rank_(rank),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !wake_) throw system_error("cannot watch connections", errno);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeToken;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  for (Connected& connected : connections) {
    Link::Options options;
    options.peer = connected.peer;
    options.checksums = checksums;
    options.on_announcement = [this](std::uint64_t group, const Error& error) {
      // Groups that were never created on this rank are never forgotten, so the number of entries
      // is bounded.
      if (announcements_.size() >= RecentGroups::kMax) announcements_.erase(announcements_.begin());
      announcements_.emplace(group, error.with_rank(rank_));
    };
    by_peer_[connected.peer].push_back(streams_.size());
    Stream& stream = streams_.emplace_back();
    stream.link = std::make_unique<Link>(std::move(connected.socket), std::move(connected.rest),
                                         std::move(options));
    event.events = 0;
    event.data.u64 = streams_.size() - 1;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stream.link->socket().descriptor(), &event);
    watch(stream);
  }
}

TcpMessenger::~TcpMessenger() {
  for (Stream& stream : streams_) stream.link->leave();
}

Link& TcpMessenger::link(int peer, const MessageId& id) {
  const auto found = by_peer_.find(peer);
  TRIREME_CHECK(found != by_peer_.end(), "rank ", rank_, " has no connection to rank ", peer);
  const auto& streams = found->second;
  return *streams_[streams[id.channel % streams.size()]].link;
}

void TcpMessenger::send(int peer, const MessageId& id, ByteView data, Transfer& transfer) {
  link(peer, id).send(id, data, transfer);
}

void TcpMessenger::receive(int peer, const MessageId& id, std::span<std::byte> into,
                           Transfer& transfer) {
  link(peer, id).receive(id, into, transfer);
}

void TcpMessenger::cancel(Transfer& transfer) noexcept {
  if (by_peer_.contains(transfer.peer)) link(transfer.peer, transfer.id).cancel(transfer);
}

void TcpMessenger::forget(std::uint64_t group) noexcept {
  std::lock_guard lock(forgotten_mutex_);
  forgotten_.push_back(group);
}

bool TcpMessenger::awaits(int peer, std::uint64_t group, std::uint64_t sequence) const {
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](std::size_t index) {
    return streams_[index].link->awaits(group, sequence);
  });
}

std::optional<Error> TcpMessenger::loss(int peer) const {
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return std::nullopt;
  for (std::size_t index : found->second) {
    if (auto loss = streams_[index].link->loss()) return loss;
  }
  return std::nullopt;
}

std::optional<Error> TcpMessenger::announcement(std::uint64_t group) const {
  const auto found = announcements_.find(group);
  if (found == announcements_.end()) return std::nullopt;
  return found->second;
}

void TcpMessenger::announce(std::uint64_t group, std::span<const int> peers,
                            const Error& error) noexcept {
  const Announcement said = Announcement::of(error, rank_);
  for (int peer : peers) {
    const auto found = by_peer_.find(peer);
    if (found == by_peer_.end()) continue;
    streams_[found->second.front()].link->send_announcement(group, said);
  }
}

// Updates the events that epoll reports for this link, if they have changed.
void TcpMessenger::watch(Stream& stream) {
  const std::uint32_t wanted =
      (stream.link->wants_read() ? EPOLLIN : 0u) | (stream.link->wants_write() ? EPOLLOUT : 0u);
  if (wanted == stream.watched) return;
  if (wanted == 0 && stream.link->loss()) {
    // Removed completely: epoll would report a reset connection forever.
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, stream.link->socket().descriptor(), nullptr);
    stream.watched = wanted;
    return;
  }
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = static_cast<std::uint64_t>(&stream - streams_.data());
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, stream.link->socket().descriptor(), &event);
  stream.watched = wanted;
}

bool TcpMessenger::poll() {
  {
    std::lock_guard lock(forgotten_mutex_);
    for (std::uint64_t group : std::exchange(forgotten_, {})) {
      for (Stream& stream : streams_) stream.link->forget(group);
      announcements_.erase(group);
    }
  }
  bool moved = false;
  for (Stream& stream : streams_) {
    if (stream.link->has_early()) moved |= stream.link->move();
    watch(stream);
  }
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t token = events[static_cast<std::size_t>(i)].data.u64;
    if (token == kWakeToken) {
      std::uint64_t rings;
      [[maybe_unused]] const auto got = ::read(wake_.get(), &rings, sizeof(rings));
      continue;
    }
    moved |= streams_[token].link->move();
  }
  return moved;
}

void TcpMessenger::sleep(Duration longest) {
  std::array<epoll_event, 1> events;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec timeout{static_cast<time_t>(seconds.count()),
                         static_cast<long>((longest - seconds).count())};
  const int ready = ::epoll_pwait2(epoll_.get(), events.data(), 1, &timeout, nullptr);
  // Kernels before 5.11 support only milliseconds.
  if (ready < 0 && errno == ENOSYS) ::epoll_wait(epoll_.get(), events.data(), 1, 1);
}

void TcpMessenger::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(wake_.get(), &one, sizeof(one));
}

}  // namespace trireme::comm::tcp
