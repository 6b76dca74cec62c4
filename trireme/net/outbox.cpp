#include "trireme/net/outbox.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

#include "trireme/base/error.h"
#include "trireme/net/error_codec.h"

namespace trireme::net {
namespace {

// Memory beyond this size is freed once the pending bytes are sent.
constexpr std::size_t kKeptCapacity = std::size_t{256} << 10;
// More than this is sent even while corked, so that for a burst of items in one request
// `output_max` limits what the caller has not read, and not what was corked.
constexpr std::size_t kGatheredMax = std::size_t{64} << 10;

}  // namespace

Outbox::Outbox(Socket socket, const Options& options)
    : options_(options), socket_(std::move(socket)), interest_(EPOLLIN) {}

Outbox::Admission Outbox::admit(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (open_.contains(id)) return Admission::Repeated;
  if (open_.size() >= options_.requests_max) return Admission::Full;
  open_.insert(id);
  return Admission::Admitted;
}
bool Outbox::send_item(std::uint64_t id, std::uint16_t method, ByteView payload) {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || !open_.contains(id)) return false;
  const std::size_t size = kFrameHeaderSize + payload.size();
  // An item larger than the limit is still sent if nothing is pending before it.
  if (waiting_locked() > 0 && waiting_locked() + size > options_.output_max) {
    cut_locked("it reads a stream too slowly: " + std::to_string(waiting_locked()) +
               " bytes wait for it");
    return false;
  }
  append_locked(FrameKind::Item, method, id, payload);
  flush_locked();
  return !is_closed_ && open_.contains(id);
}

void Outbox::finish(std::uint64_t id, FrameKind kind, std::uint16_t method, ByteView payload) {
  const std::lock_guard lock(mutex_);
  if (open_.erase(id) == 0 || is_closed_) return;
  if (waiting_locked() > options_.output_max + options_.payload_max) {
    cut_locked("it reads its answers too slowly: " + std::to_string(waiting_locked()) +
               " bytes wait for it");
    return;
  }
  append_locked(kind, method, id, payload);
  flush_locked();
}

void Outbox::refuse(std::uint64_t id, std::uint16_t method, ByteView failure) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  append_locked(FrameKind::Failure, method, id, failure);
  flush_locked();
}

void Outbox::append_locked(FrameKind kind, std::uint16_t method, std::uint64_t id,
                           ByteView payload) {
  Bytes too_large;
  if (payload.size() > kPayloadMax) {
    too_large = encode_error(Error(
        ErrorCode::Exhausted, "the answer has " + std::to_string(payload.size()) +
                                  " bytes and a frame carries " + std::to_string(kPayloadMax)));
    open_.erase(id);
    kind = FrameKind::Failure;
    payload = too_large;
  }
  const FrameHeader header = encode_header(kind, method, id, payload.size());
  buffer_.insert(buffer_.end(), header.begin(), header.end());
  buffer_.insert(buffer_.end(), payload.begin(), payload.end());
}

void Outbox::flush_locked() {
  if (is_closed_ || (is_corked_ && waiting_locked() < kGatheredMax)) return;
  while (waiting_locked() > 0) {
    const IoResult sent = send(socket_, ByteView(buffer_).subspan(begin_));
    if (sent.has_moved()) {
      begin_ += sent.size;
      continue;
    }
    if (!sent.must_wait()) {
      // The reading side will detect the same error and end the session; nothing more is sent here.
      is_closed_ = true;
      (void)::shutdown(socket_.descriptor(), SHUT_RDWR);
    }
    break;
  }
  if (waiting_locked() == 0 || is_closed_) {
    begin_ = 0;
    buffer_.clear();
    if (buffer_.capacity() > kKeptCapacity) buffer_ = Bytes();
  } else if (begin_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  update_interest_locked();
}

void Outbox::cut_locked(std::string reason) {
  cut_reason_ = std::move(reason);
  is_closed_ = true;
  begin_ = 0;
  buffer_ = Bytes();
  (void)::shutdown(socket_.descriptor(), SHUT_RDWR);
  // A paused session still sees its own hang-up, because epoll always reports it.
}

void Outbox::update_interest_locked() {
  std::uint32_t wanted = is_paused_ ? EPOLLOUT : EPOLLIN;
  if (waiting_locked() > 0) wanted |= EPOLLOUT;
  if (wanted == interest_ || !socket_.is_open()) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = options_.tag;
  if (::epoll_ctl(options_.epoll, EPOLL_CTL_MOD, socket_.descriptor(), &event) == 0) {
    interest_ = wanted;
  }
}

void Outbox::cork() {
  const std::lock_guard lock(mutex_);
  is_corked_ = true;
}

void Outbox::uncork() {
  const std::lock_guard lock(mutex_);
  is_corked_ = false;
  flush_locked();
}

void Outbox::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

bool Outbox::is_congested() const {
  const std::lock_guard lock(mutex_);
  return waiting_locked() > options_.output_max;
}

void Outbox::pause(bool paused) {
  const std::lock_guard lock(mutex_);
  is_paused_ = paused;
  update_interest_locked();
}

void Outbox::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  open_.clear();
  begin_ = 0;
  buffer_ = Bytes();
  socket_.close();
}

std::string Outbox::cut_reason() const {
  const std::lock_guard lock(mutex_);
  return cut_reason_;
}

}  // namespace trireme::net
