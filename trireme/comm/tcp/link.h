// Link is one connection to one peer: messages out in order, messages in matched by id.
//
// It never blocks: move() reads and writes what the socket takes. A large message that nobody has
// asked for yet stays in the socket, which the sender feels; small ones are kept, up to a bound.
//
// Failure: the first thing that goes wrong is final and named by loss(): a closed connection, a
//          header that cannot be, a payload that does not match its checksum.
// Threads: one at a time.

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
  // Says goodbye, unless something went wrong, and writes what the socket takes now.
  void leave() noexcept;

  // Reads and writes what it can; true when anything moved.
  bool move();
  // Also when what came was damaged: the other end shall hear why this one gives up.
  bool wants_write() const noexcept { return !outgoing_.empty() && !is_broken_; }
  // False while a message waits at the door that nobody has asked for.
  bool wants_read() const noexcept { return !is_stalled_ && !has_left_ && !loss_; }
  // What came behind the handshake: no socket tells of it.
  bool has_early() const noexcept { return early_taken_ < early_.size() && wants_read(); }
  std::optional<Error> loss() const;
  const net::Socket& socket() const noexcept { return socket_; }

 private:
  struct Outgoing {
    WireHeader header;
    ByteView data;
    Bytes kept;  // owns the data where the sender does not
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
  Bytes early_;  // came behind the handshake
  std::size_t early_taken_ = 0;
  Options options_;
  std::deque<Outgoing> outgoing_;
  std::uint64_t outgoing_begin_ = 0;         // how many were there before the first of them
  std::multimap<MessageId, Posted> posted_;  // those of one id in the order of asking
  std::multimap<MessageId, Bytes> unasked_;  // those of one id in the order of coming
  std::size_t unasked_size_ = 0;
  RecentGroups forgotten_;

  // The message that is being read.
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
