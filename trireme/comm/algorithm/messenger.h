// Messenger is a transport as the message-passing collectives see it: bytes to and from a peer,
// matched by an id, many at a time, none of it blocking.
//
// A Transfer is one such message in progress. Its memory must stay valid until it is done; when
// a Transfer is destroyed earlier (its operation was abandoned) the messenger forgets it and no
// longer touches that memory.
//
// Order:   messages of one pair and id are received in the order in which they were sent.
// Bounds:  a message that nobody has asked for yet is kept if it is at most kUnaskedMax bytes.
//          Larger ones may only be sent to a peer that is known to wait for them.
// Threads: one at a time; the engine's lock covers all calls.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"

namespace trireme::comm {

inline constexpr std::size_t kUnaskedMax = 4096 + 64;

struct MessageId {
  std::uint64_t group = 0;
  std::uint64_t sequence = 0;
  std::uint32_t channel = 0;

  friend auto operator<=>(const MessageId&, const MessageId&) = default;
};

class Messenger;

struct Transfer {
  explicit Transfer(Messenger& messenger) : owner(&messenger) {}
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Messenger* owner;
  MessageId id{};
  int peer = -1;
  bool is_done = false;
  std::size_t size = 0;  // received: how much came
  // The messenger's own, to find the transfer again.
  bool is_sending = false;
  std::uint64_t place = 0;
};

class Messenger {
 public:
  virtual ~Messenger() = default;

  // Ranks of the job, as peers are numbered here.
  virtual int rank() const noexcept = 0;
  virtual void send(int peer, const MessageId& id, ByteView data, Transfer& transfer) = 0;
  virtual void receive(int peer, const MessageId& id, std::span<std::byte> into,
                       Transfer& transfer) = 0;
  virtual void cancel(Transfer& transfer) noexcept = 0;

  // The group is over on this rank: what still comes for it is read and dropped. Any thread.
  virtual void forget(std::uint64_t group) noexcept = 0;

  // Whether something of this operation is still to come from, or to go to, this peer.
  virtual bool awaits(int peer, std::uint64_t group, std::uint64_t sequence) const = 0;
  // Why nothing more will come from this peer, if so.
  virtual std::optional<Error> loss(int peer) const = 0;
  // What some rank announced to this group, if anything.
  virtual std::optional<Error> announcement(std::uint64_t group) const = 0;
  virtual void announce(std::uint64_t group, std::span<const int> peers,
                        const Error& error) noexcept = 0;
};

inline Transfer::~Transfer() {
  if (!is_done && peer >= 0) owner->cancel(*this);
}

// The transfers of one operation.
class Transfers {
 public:
  explicit Transfers(Messenger& messenger) : messenger_(messenger) {}

  Transfer& send(int peer, const MessageId& id, ByteView data) {
    Transfer& transfer = all_.emplace_back(messenger_);
    messenger_.send(peer, id, data, transfer);
    return transfer;
  }
  Transfer& receive(int peer, const MessageId& id, std::span<std::byte> into) {
    Transfer& transfer = all_.emplace_back(messenger_);
    messenger_.receive(peer, id, into, transfer);
    return transfer;
  }
  // Forgets those that are done at the front, so that a long pipeline stays short in memory.
  bool all_done() {
    while (!all_.empty() && all_.front().is_done) all_.pop_front();
    for (const Transfer& transfer : all_) {
      if (!transfer.is_done) return false;
    }
    return true;
  }
  // For those that are taken one by one, in the order in which they were begun.
  bool first_done() const { return all_.front().is_done; }
  void drop_first() { all_.pop_front(); }

 private:
  Messenger& messenger_;
  std::deque<Transfer> all_;
};

}  // namespace trireme::comm
