#include "trireme/net/client_core.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/net/error_codec.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReceivedAtOnce = std::size_t{64} << 10;
// How long a writer that cannot lead waits for room before it checks again whether it can lead.
constexpr auto kWriterPatience = 20ms;

}  // namespace

ClientCore::ClientCore(const Client::Options& options, Dialed dialed)
    : socket_(std::move(dialed.socket)),
      peer_(std::move(dialed.peer)),
      address_(options.address),
      stream_items_max_(options.stream_items_max),
      writer_(socket_) {
  reader_.feed(dialed.rest);
}

Bytes ClientCore::call(std::uint16_t method, ByteView payload, Deadline deadline) {
  const std::uint64_t id = send_request(method, payload, false, deadline);
  Lock lock(mutex_);
  Pending& pending = pending_.at(id);
  try {
    await(lock, pending, deadline);
  } catch (...) {
    forget(id, pending);
    throw;
  }
  const auto failure = std::move(pending.failure);
  Bytes reply;
  if (!failure) reply = std::move(pending.items.front());
  forget(id, pending);
  if (failure) throw *failure;
  return reply;
}

std::uint64_t ClientCore::open(std::uint16_t method, ByteView payload, Deadline deadline) {
  return send_request(method, payload, true, deadline);
}

void ClientCore::post(std::uint16_t method, ByteView payload, Deadline deadline) {
  send(FrameKind::Post, method, 0, payload, deadline);
}

std::uint64_t ClientCore::send_request(std::uint16_t method, ByteView payload, bool is_stream,
                                       Deadline deadline) {
  std::uint64_t id = 0;
  {
    const Lock lock(mutex_);
    id = next_id_++;
    Pending& pending = pending_[id];
    pending.method = method;
    pending.is_stream = is_stream;
  }
  try {
    send(FrameKind::Request, method, id, payload, deadline);
  } catch (...) {
    const Lock lock(mutex_);
    forget(id, pending_.at(id));
    throw;
  }
  return id;
}

void ClientCore::send(FrameKind kind, std::uint16_t method, std::uint64_t id, ByteView payload,
                      Deadline deadline) {
  TRIREME_CHECK(payload.size() <= kPayloadMax, "a payload of ", payload.size(), " bytes");
  {
    const Lock lock(mutex_);
    throw_if_lost();
  }
  try {
    writer_.send(encode_header(kind, method, id, payload.size()), payload, deadline,
                 [this](Deadline until) { wait_for_room(until); });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Deadline) {
      throw Error(ErrorCode::Deadline,
                  "cannot send to " + server_text() + " in time: " + error.message());
    }
    const Lock lock(mutex_);
    lose(error);
    throw_if_lost();
  }
}

void ClientCore::wait_for_room(Deadline deadline) {
  Lock lock(mutex_);
  if (can_lead()) {
    (void)read_as_leader(lock, POLLIN | POLLOUT, deadline);
    wake_next_leader();
  } else {
    lock.unlock();
    (void)wait_ready(socket_, POLLOUT, min(deadline, Deadline::after(kWriterPatience)));
  }
}

std::optional<Bytes> ClientCore::next(std::uint64_t id, Deadline deadline) {
  Lock lock(mutex_);
  Pending& pending = pending_.at(id);
  await(lock, pending, deadline);
  if (!pending.items.empty()) {
    Bytes item = std::move(pending.items.front());
    pending.items.pop_front();
    set_full(pending, false);
    return item;
  }
  if (pending.failure) throw *pending.failure;
  return std::nullopt;
}

void ClientCore::await(Lock& lock, Pending& pending, Deadline deadline) {
  const auto give_up = [&] {
    const bool is_stuck = full_streams_ > 0;
    wake_next_leader();
    Error error(ErrorCode::Deadline, "no answer from " + server_text() + " to method " +
                                         std::to_string(pending.method) + " in time");
    throw is_stuck ? error.with_cause("a stream of this connection is full and nobody reads it")
                   : error;
  };
  while (!pending.has_news()) {
    throw_if_lost();
    if (can_lead()) {
      if (!read_as_leader(lock, POLLIN, deadline) && !pending.has_news()) give_up();
      continue;
    }
    waiting_.push_back(&pending);
    const auto outcome = pending.changed.wait_until(lock, deadline.when());
    std::erase(waiting_, &pending);
    if (outcome == std::cv_status::timeout && !pending.has_news() && !lost_) give_up();
  }
  wake_next_leader();
}

bool ClientCore::read_as_leader(Lock& lock, short events, Deadline deadline) {
  // First deliver frames that are still in the reader because a stream was full.
  if (dispatch()) return true;
  is_reading_ = true;
  lock.unlock();
  std::array<std::byte, kReceivedAtOnce> buffer;
  IoResult got = receive(socket_, buffer);
  bool is_in_time = true;
  std::optional<Error> broken;
  try {
    if (got.must_wait()) {
      is_in_time = wait_ready(socket_, events, deadline);
      if (is_in_time) got = receive(socket_, buffer);
    }
    reader_.feed({buffer.data(), got.size});
  } catch (const Error& error) {
    broken = error;
  }
  lock.lock();
  is_reading_ = false;
  (void)dispatch();
  if (broken) {
    lose(*broken);
  } else if (!got.has_moved() && !got.must_wait()) {
    lose(Error(ErrorCode::PeerLost, got.reason()));
  }
  return is_in_time;
}

bool ClientCore::dispatch() {
  bool has_any = false;
  while (full_streams_ == 0) {
    auto frame = reader_.next();
    if (!frame) break;
    deliver(std::move(*frame));
    has_any = true;
  }
  return has_any;
}

void ClientCore::deliver(Frame frame) {
  const auto at = pending_.find(frame.id);
  // The answer belongs to a request that was cancelled in the meantime.
  if (at == pending_.end() || at->second.is_over) return;
  Pending& pending = at->second;
  const bool fits =
      frame.kind == FrameKind::Failure ||
      (pending.is_stream ? frame.kind == FrameKind::Item || frame.kind == FrameKind::End
                         : frame.kind == FrameKind::Reply);
  pending.is_over = frame.kind != FrameKind::Item || !fits;
  if (!fits) {
    pending.failure = Error(ErrorCode::Protocol, server_text() + " answered a " +
                                                     (pending.is_stream ? "stream" : "call") +
                                                     " as if it were something else");
  } else if (frame.kind == FrameKind::Failure) {
    try {
      pending.failure = decode_error(frame.payload);
    } catch (const Error& error) {
      pending.failure = error;
    }
  } else if (frame.kind != FrameKind::End) {
    pending.items.push_back(std::move(frame.payload));
    if (pending.is_stream && pending.items.size() >= stream_items_max_) set_full(pending, true);
  }
  pending.changed.notify_one();
}

void ClientCore::wake_next_leader() {
  if (can_lead() && !waiting_.empty()) waiting_.back()->changed.notify_one();
}

void ClientCore::set_full(Pending& pending, bool is_full) {
  if (pending.is_full == is_full) return;
  pending.is_full = is_full;
  full_streams_ += is_full ? 1 : -1;
  wake_next_leader();
}

void ClientCore::cancel(std::uint64_t id) noexcept {
  const Lock lock(mutex_);
  forsake(id, pending_.at(id));
}

void ClientCore::close(std::uint64_t id) noexcept {
  const Lock lock(mutex_);
  forget(id, pending_.at(id));
}

void ClientCore::forsake(std::uint64_t id, Pending& pending) noexcept {
  if (!pending.is_over && !lost_) {
    writer_.send_soon(encode_header(FrameKind::Cancel, pending.method, id, 0));
  }
  pending.is_over = true;
  pending.items.clear();
  set_full(pending, false);
  pending.changed.notify_one();
}

void ClientCore::forget(std::uint64_t id, Pending& pending) noexcept {
  forsake(id, pending);
  pending_.erase(id);
}

void ClientCore::lose(const Error& why) {
  if (lost_) return;
  lost_ = Error(why.code(), "lost the connection to " + server_text() + ": " + why.message());
  for (auto& [id, pending] : pending_) pending.changed.notify_one();
}

void ClientCore::throw_if_lost() const {
  if (lost_) throw *lost_;
}

std::string ClientCore::server_text() const {
  return (peer_.name.empty() ? "the server" : peer_.name) + " at " + address_.to_text();
}

bool ClientCore::is_open() const noexcept {
  const Lock lock(mutex_);
  if (lost_) return false;
  std::byte probe;
  const ssize_t got = ::recv(socket_.descriptor(), &probe, 1, MSG_PEEK | MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

std::string ClientCore::local_host() const {
  const std::string host = host_of(local_address(socket_));
  return host.empty() ? "127.0.0.1" : host;
}

}  // namespace trireme::net
