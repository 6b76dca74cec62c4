#include "trireme/comm/tcp/link.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace trireme::comm::tcp {
namespace {

// Limit for buffered small messages without a matching receive. A group bounds how far a rank may
// run ahead of another (see MessageBackend), so only very many groups can reach this limit; the
// peer then waits.
constexpr std::size_t kUnaskedTotal = std::size_t{64} << 20;
// How much one call of move() reads or writes before other links get a turn.
constexpr std::size_t kTurnSize = std::size_t{1} << 20;

MessageId id_of(const WireHeader& header) {
  return {header.group, header.sequence, header.channel};
}

}  // namespace

Link::Link(net::Socket socket, Bytes already_read, Options options)
    : socket_(std::move(socket)), early_(std::move(already_read)), options_(std::move(options)) {}

void Link::fail(ErrorCode code, const std::string& what) {
  if (code == ErrorCode::PeerLost) is_broken_ = true;
  if (loss_) return;
  loss_ = Error(code, what).with_peer(options_.peer);
}

std::optional<Error> Link::loss() const {
  if (loss_) return loss_;
  const bool is_waited_for = !posted_.empty() || (is_broken_ && !outgoing_.empty());
  if (has_left_ && is_waited_for) {
    return Error(ErrorCode::PeerLost,
                 "rank " + std::to_string(options_.peer) + " left while it was waited for")
        .with_peer(options_.peer);
  }
  return std::nullopt;
}

void Link::enqueue(WireKind kind, const MessageId& id, ByteView data, Bytes kept,
                   Transfer* transfer) {
  Outgoing& out = outgoing_.emplace_back();
  out.header.kind = kind;
  out.header.group = id.group;
  out.header.sequence = id.sequence;
  out.header.channel = id.channel;
  out.header.size = static_cast<std::uint32_t>(data.size());
  if (options_.checksums) {
    out.header.has_checksum = 1;
    out.header.payload_check = checksum(data);
  }
  out.header.header_check = header_checksum(out.header);
  out.data = data;
  out.kept = std::move(kept);
  out.transfer = transfer;
  if (transfer != nullptr) {
    transfer->is_sending = true;
    transfer->place = outgoing_begin_ + outgoing_.size() - 1;
  }
}

void Link::send(const MessageId& id, ByteView data, Transfer& transfer) {
  transfer.peer = options_.peer;
  transfer.id = id;
  enqueue(WireKind::Data, id, data, {}, &transfer);
  if (outgoing_.size() == 1) write_some();
}

void Link::send_announcement(std::uint64_t group, const Announcement& said) {
  Bytes kept = to_bytes(said.text.substr(0, kUnaskedMax));
  const ByteView view = kept;
  const auto about = static_cast<std::uint64_t>(said.about);
  enqueue(WireKind::Announce, {group, about, static_cast<std::uint32_t>(said.code)}, view,
          std::move(kept), nullptr);
  write_some();
}

void Link::leave() noexcept {
  if (has_left_) return;
  if (!loss_) enqueue(WireKind::Bye, {}, {}, {}, nullptr);
  while (write_some()) {
  }
}

void Link::receive(const MessageId& id, std::span<std::byte> into, Transfer& transfer) {
  transfer.peer = options_.peer;
  transfer.id = id;
  is_stalled_ = false;  // the stopped message may match this receive, or fit now
  const auto early = unasked_.lower_bound(id);
  if (early == unasked_.end() || early->first != id) {
    posted_.emplace(id, Posted{into, &transfer});
    return;
  }
  transfer.size = std::min(into.size(), early->second.size());
  if (transfer.size != 0) std::memcpy(into.data(), early->second.data(), transfer.size);
  transfer.is_done = true;
  unasked_size_ -= early->second.size();
  unasked_.erase(early);
}

void Link::forget(std::uint64_t group) {
  forgotten_.add(group);
  std::erase_if(unasked_, [&](const auto& entry) {
    if (entry.first.group != group) return false;
    unasked_size_ -= entry.second.size();
    return true;
  });
  is_stalled_ = false;  // the stopped message may belong to this group
}

bool Link::awaits(std::uint64_t group, std::uint64_t sequence) const {
  const auto is_of_it = [&](const Outgoing& out) {
    return out.transfer != nullptr && out.header.group == group && out.header.sequence == sequence;
  };
  if (std::any_of(outgoing_.begin(), outgoing_.end(), is_of_it)) return true;
  const auto first = posted_.lower_bound({group, sequence, 0});
  const bool is_posted =
      first != posted_.end() && first->first.group == group && first->first.sequence == sequence;
  return is_posted || (in_payload_ && reading_ != nullptr && header_.group == group &&
                       header_.sequence == sequence);
}

// A message that was begun has to be finished, or the stream gets out of sync: the rest of a
// message being written is copied, the rest of one being read goes into a separate buffer.
void Link::cancel(Transfer& transfer) noexcept {
  if (transfer.is_sending) {
    cancel_outgoing(transfer);
    return;
  }
  const auto [first, last] = posted_.equal_range(transfer.id);
  const auto posted = std::find_if(
      first, last, [&](const auto& entry) { return entry.second.transfer == &transfer; });
  if (posted != last) posted_.erase(posted);
  if (reading_ == &transfer) {
    reading_ = nullptr;
    aside_.assign(target_.begin(), target_.end());
    target_ = aside_;
  }
}

void Link::cancel_outgoing(const Transfer& transfer) noexcept {
  if (transfer.place < outgoing_begin_) return;
  Outgoing& out = outgoing_[transfer.place - outgoing_begin_];
  out.transfer = nullptr;
  out.is_dropped = out.written == 0;
  if (!out.is_dropped) out.kept.assign(out.data.begin(), out.data.end());
  out.data = out.kept;
  while (!outgoing_.empty() && outgoing_.front().is_dropped) drop_front();
}

void Link::drop_front() noexcept {
  outgoing_.pop_front();
  ++outgoing_begin_;
}

bool Link::move() {
  bool moved = false;
  if (wants_write()) moved |= write_some();
  if (wants_read()) moved |= read_some();
  return moved;
}

// Nothing more can be written. The last data from the peer may say why, so it is read first.
void Link::break_off(const std::string& reason) {
  is_broken_ = true;
  while (wants_read() && read_some()) {
  }
  if (has_left_) return;
  fail(ErrorCode::PeerLost,
       "the connection to rank " + std::to_string(options_.peer) + " broke: " + reason);
}

bool Link::write_some() {
  std::size_t total = 0;
  while (wants_write() && total < kTurnSize) {
    Outgoing& out = outgoing_.front();
    if (out.is_dropped) {
      drop_front();
      continue;
    }
    iovec pieces[2];
    std::size_t count = 0;
    std::size_t begin = out.written;
    if (begin < sizeof(WireHeader)) {
      pieces[count++] = {reinterpret_cast<std::byte*>(&out.header) + begin,
                         sizeof(WireHeader) - begin};
      begin = sizeof(WireHeader);
    }
    const std::size_t done = begin - sizeof(WireHeader);
    if (done < out.data.size()) {
      pieces[count++] = {const_cast<std::byte*>(out.data.data()) + done, out.data.size() - done};
    }
    const net::IoResult result = net::send(socket_, std::span<const iovec>(pieces, count));
    if (!result.has_moved()) {
      if (!result.must_wait()) break_off(result.reason());
      break;
    }
    total += result.size;
    out.written += result.size;
    if (out.written < sizeof(WireHeader) + out.data.size()) continue;
    if (out.transfer != nullptr) out.transfer->is_done = true;
    drop_front();
  }
  return total != 0;
}

std::size_t Link::read_into(std::span<std::byte> into) {
  if (early_taken_ < early_.size()) {
    const std::size_t size = std::min(into.size(), early_.size() - early_taken_);
    std::memcpy(into.data(), early_.data() + early_taken_, size);
    early_taken_ += size;
    return size;
  }
  const net::IoResult result = net::receive(socket_, into);
  if (result.has_moved()) return result.size;
  if (!result.must_wait()) {
    fail(ErrorCode::PeerLost, "the connection to rank " + std::to_string(options_.peer) +
                                  " closed (" + result.reason() + "): it died or was cut off");
  }
  return 0;
}

bool Link::read_some() {
  std::size_t total = 0;
  while (wants_read() && total < kTurnSize) {
    if (!in_payload_) {
      if (header_read_ < sizeof(header_)) {
        const std::size_t got = read_into({reinterpret_cast<std::byte*>(&header_) + header_read_,
                                           sizeof(header_) - header_read_});
        if (got == 0) break;
        total += got;
        header_read_ += got;
        if (header_read_ < sizeof(header_)) continue;
      }
      begin_payload();
      continue;
    }
    if (payload_read_ < header_.size) {
      const std::size_t got = read_into(target_.subspan(payload_read_));
      if (got == 0) break;
      total += got;
      payload_read_ += got;
    }
    if (payload_read_ == header_.size) end_payload();
  }
  return total != 0;
}

// A complete header has arrived: decides where its payload goes.
void Link::begin_payload() {
  if (header_.magic != kMagic || header_checksum(header_) != header_.header_check) {
    fail(ErrorCode::Protocol,
         "rank " + std::to_string(options_.peer) + " sent a header that is damaged or not ours");
    return;
  }
  payload_read_ = 0;
  reading_ = nullptr;
  const auto posted = posted_.lower_bound(id_of(header_));
  const bool is_asked = posted != posted_.end() && posted->first == id_of(header_);
  if (header_.kind == WireKind::Data && is_asked) {
    if (header_.size > posted->second.into.size()) {
      fail(ErrorCode::Protocol, "rank " + std::to_string(options_.peer) + " sent " +
                                    std::to_string(header_.size) + " bytes where " +
                                    std::to_string(posted->second.into.size()) + " were expected");
      return;
    }
    reading_ = posted->second.transfer;
    target_ = posted->second.into.first(header_.size);
    posted_.erase(posted);
  } else if (header_.kind == WireKind::Data && forgotten_.contains(header_.group)) {
    aside_.resize(header_.size);
    target_ = aside_;
  } else if (header_.size <= kUnaskedMax && unasked_size_ + header_.size <= kUnaskedTotal) {
    aside_.assign(header_.size, std::byte{0});
    target_ = aside_;
  } else {
    is_stalled_ = true;  // until a matching receive is posted
    return;
  }
  in_payload_ = true;
  if (header_.size == 0) end_payload();
}

void Link::end_payload() {
  in_payload_ = false;
  header_read_ = 0;
  if (header_.has_checksum != 0 && checksum(target_) != header_.payload_check) {
    fail(ErrorCode::Corrupt, "a message of " + std::to_string(header_.size) + " bytes from rank " +
                                 std::to_string(options_.peer) + " was damaged on the way");
    return;
  }
  if (header_.kind != WireKind::Data) {
    deliver_control();
  } else if (reading_ != nullptr) {
    reading_->size = header_.size;
    reading_->is_done = true;
  } else if (header_.size <= kUnaskedMax && !forgotten_.contains(header_.group)) {
    keep_aside();
  }
  reading_ = nullptr;
  target_ = {};
}

// Stores the message for its receive, which may have been posted while the message arrived.
void Link::keep_aside() {
  const auto posted = posted_.lower_bound(id_of(header_));
  if (posted == posted_.end() || posted->first != id_of(header_)) {
    unasked_size_ += aside_.size();
    unasked_.emplace(id_of(header_), std::move(aside_));
    return;
  }
  const Posted asked = posted->second;
  posted_.erase(posted);
  asked.transfer->size = std::min(asked.into.size(), aside_.size());
  if (asked.transfer->size != 0) {
    std::memcpy(asked.into.data(), aside_.data(), asked.transfer->size);
  }
  asked.transfer->is_done = true;
}

void Link::deliver_control() {
  if (header_.kind == WireKind::Bye) {
    has_left_ = true;
    return;
  }
  const auto code = static_cast<ErrorCode>(header_.channel);
  if (header_.kind != WireKind::Announce || aside_.empty() || !Announcement::is_known(code)) {
    fail(ErrorCode::Protocol,
         "rank " + std::to_string(options_.peer) + " sent a message of an unknown kind");
    return;
  }
  if (forgotten_.contains(header_.group)) return;
  const Announcement heard{code, options_.peer, static_cast<int>(header_.sequence),
                           std::string(text_of(aside_))};
  options_.on_announcement(header_.group, heard.to_error());
}

}  // namespace trireme::comm::tcp
