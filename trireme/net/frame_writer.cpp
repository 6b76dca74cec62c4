#include "trireme/net/frame_writer.h"

#include <algorithm>
#include <array>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

iovec piece_of(ByteView bytes) {
  return {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
}

ByteView skip(ByteView bytes, std::size_t& count) {
  const std::size_t size = std::min(count, bytes.size());
  count -= size;
  return bytes.subspan(size);
}

}  // namespace

void FrameWriter::send(const FrameHeader& header, ByteView payload, Deadline deadline,
                       const Wait& wait) {
  std::unique_lock lock(mutex_);
  if (!freed_.wait_until(lock, deadline.when(), [&] { return !is_busy_; })) {
    throw Error(ErrorCode::Deadline, "others are still sending on this connection");
  }
  is_busy_ = true;
  lock.unlock();
  const auto release = [&] {
    lock.lock();
    kept_.insert(kept_.end(), soon_.begin(), soon_.end());
    soon_.clear();
    flush_kept();
    is_busy_ = false;
    freed_.notify_one();
  };
  bool is_sent = false;
  try {
    is_sent = push(header, payload, deadline, wait);
  } catch (...) {
    release();
    throw;
  }
  release();
  if (!is_sent) throw Error(ErrorCode::Deadline, "the other end does not read what it is sent");
}

bool FrameWriter::push(const FrameHeader& header, ByteView payload, Deadline deadline,
                       const Wait& wait) {
  const std::size_t total = kept_.size() + header.size() + payload.size();
  std::size_t sent = 0;
  while (sent < total) {
    std::size_t skipped = sent;
    const std::array<ByteView, 3> rest{skip(kept_, skipped), skip(header, skipped),
                                       skip(payload, skipped)};
    std::array<iovec, 3> pieces{};
    std::ranges::transform(rest, pieces.begin(), piece_of);
    const IoResult moved = net::send(socket_, pieces);
    if (moved.has_moved()) {
      sent += moved.size;
    } else if (!moved.must_wait()) {
      throw Error(ErrorCode::PeerLost, moved.reason());
    } else if (deadline.is_past()) {
      keep_rest(header, payload, sent);
      return false;
    } else {
      wait(deadline);
    }
  }
  kept_.clear();
  return true;
}

void FrameWriter::keep_rest(const FrameHeader& header, ByteView payload, std::size_t sent) {
  const bool is_begun = sent > kept_.size();
  const ByteView old = skip(kept_, sent);
  Bytes rest(old.begin(), old.end());
  if (is_begun) {
    const ByteView head = skip(header, sent);
    const ByteView body = skip(payload, sent);
    rest.insert(rest.end(), head.begin(), head.end());
    rest.insert(rest.end(), body.begin(), body.end());
  }
  kept_ = std::move(rest);
}

void FrameWriter::flush_kept() noexcept {
  if (kept_.empty()) return;
  const IoResult moved = net::send(socket_, kept_);
  if (moved.has_moved()) {
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(moved.size));
  }
}

void FrameWriter::send_soon(const FrameHeader& header) noexcept {
  const std::lock_guard lock(mutex_);
  Bytes& queue = is_busy_ ? soon_ : kept_;
  queue.insert(queue.end(), header.begin(), header.end());
  if (!is_busy_) flush_kept();
}

}  // namespace trireme::net
