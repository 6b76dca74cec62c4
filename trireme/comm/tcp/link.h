// Link is one connection to one peer. Messages are sent in order; received messages are matched by
// id.
//
// It never blocks: move() reads and writes as much as the socket accepts. A large message without a
// matching receive stays in the socket, so that the sender has to wait; small ones are buffered, up
// to a bound.
//
// Errors:        the first failure is final and reported by loss(): a closed connection, an invalid
//                header, or a payload that does not match its checksum.
// Thread safety: one thread at a time.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "trireme/comm/algorithm/messenger.h"
#include "trireme/comm/algorithm/recent_groups.h"
#include "trireme/comm/announcement.h"
#include "trireme/comm/tcp/wire.h"
#include "trireme/net/socket.h"

namespace trireme::comm::tcp {

class Link {
 public:
  struct Options {
    int peer = 0;
    bool checksums = false;
    // Called with every announcement that arrives.
    std::function<void(std::uint64_t group, const Error& error)> on_announcement;
  };

  Link(net::Socket socket, Bytes already_read, Options options);

  void send(const MessageId& id, ByteView data, Transfer& transfer);
  void receive(const MessageId& id, std::span<std::byte> into, Transfer& transfer);
  void cancel(Transfer& transfer) noexcept;
  void forget(std::uint64_t group);
  bool awaits(std::uint64_t group, std::uint64_t sequence) const;
  void send_announcement(std::uint64_t group, const Announcement& said);
  // Sends a goodbye, unless there was a failure, and writes as much as the socket accepts now.
  void leave() noexcept;

  // Reads and writes as much as possible; returns true if there was progress.
  bool move();
  // Also true after corrupt data was received: the peer is told why this end closes the connection.
  bool wants_write() const noexcept { return !outgoing_.empty() && !is_broken_; }
  // False while a message without a matching receive is stopped in the socket.
  bool wants_read() const noexcept { return !is_stalled_ && !has_left_ && !loss_; }
  // Whether bytes that arrived together with the handshake are unread; the socket does not report
  // them.
  bool has_early() const noexcept { return early_taken_ < early_.size() && wants_read(); }
  std::optional<Error> loss() const;
  const net::Socket& socket() const noexcept { return socket_; }

 private:
  struct Outgoing {
    WireHeader header;
    ByteView data;
    Bytes kept;  // owns the data if the sender does not
    Transfer* transfer = nullptr;
    std::size_t written = 0;
    bool is_dropped = false;  // abandoned before its first byte was written
  };
  struct Posted {
    std::span<std::byte> into;
    Transfer* transfer = nullptr;
  };

  void enqueue(WireKind kind, const MessageId& id, ByteView data, Bytes kept, Transfer* transfer);
  bool write_some();
  void break_off(const std::string& reason);
  bool read_some();
  std::size_t read_into(std::span<std::byte> into);
  void begin_payload();
  void end_payload();
  void keep_aside();
  void deliver_control();
  void fail(ErrorCode code, const std::string& what);
  void drop_front() noexcept;
  void cancel_outgoing(const Transfer& transfer) noexcept;

  net::Socket socket_;
  Bytes early_;  // bytes received after the handshake
  std::size_t early_taken_ = 0;
  Options options_;
  std::deque<Outgoing> outgoing_;
  std::uint64_t outgoing_begin_ = 0;  // number of messages that were sent before the first of these
  // Receives without a message; those of one id in the order of the calls.
  std::multimap<MessageId, Posted> posted_;
  // Messages without a receive; those of one id in the order of arrival.
  std::multimap<MessageId, Bytes> unasked_;
  std::size_t unasked_size_ = 0;
  RecentGroups forgotten_;

  // The message that is currently being read.
  WireHeader header_;
  std::size_t header_read_ = 0;
  std::span<std::byte> target_;
  Transfer* reading_ = nullptr;
  Bytes aside_;
  std::size_t payload_read_ = 0;
  bool in_payload_ = false;
  bool is_stalled_ = false;

  bool has_left_ = false;
  bool is_broken_ = false;  // nothing can be written any more
  std::optional<Error> loss_;
};

}  // namespace trireme::comm::tcp
