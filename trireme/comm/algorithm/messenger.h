// Messenger is the transport interface of the message-passing collectives. It sends bytes to a peer
// and receives bytes from a peer, matched by an id. Many messages can be in flight; no call blocks.
//
// A Transfer is one message in progress. Its memory must stay valid until the transfer is done. If
// a Transfer is destroyed earlier because its operation was abandoned, the messenger forgets it and
// no longer accesses that memory.
//
// Ordering:      messages of one pair of ranks and one id are received in the order in which they
//                were sent.
// Bounds:        a message without a matching receive is buffered if it has at most kUnaskedMax
//                bytes. A larger message may be sent only to a peer that is known to be waiting for
//                it.
// Thread safety: one thread at a time; the engine's lock covers all calls.

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
  std::size_t size = 0;  // for a receive: number of bytes received
  // Used only by the messenger, to find the transfer again.
  bool is_sending = false;
  std::uint64_t place = 0;
};

class Messenger {
 public:
  virtual ~Messenger() = default;

  // Peers are identified by their ranks in the job.
  virtual int rank() const noexcept = 0;
  virtual void send(int peer, const MessageId& id, ByteView data, Transfer& transfer) = 0;
  virtual void receive(int peer, const MessageId& id, std::span<std::byte> into,
                       Transfer& transfer) = 0;
  virtual void cancel(Transfer& transfer) noexcept = 0;

  // The group has ended on this rank: messages that still arrive for it are read and dropped.
  // Thread safety: any thread.
  virtual void forget(std::uint64_t group) noexcept = 0;

  // Whether data of this operation is still to be received from, or sent to, this peer.
  virtual bool awaits(int peer, std::uint64_t group, std::uint64_t sequence) const = 0;
  // The reason why nothing more can arrive from this peer, if there is one.
  virtual std::optional<Error> loss(int peer) const = 0;
  // The error that a rank announced to this group, if any.
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
  // Removes completed transfers at the front, so that a long pipeline does not use more and more
  // memory.
  bool all_done() {
    while (!all_.empty() && all_.front().is_done) all_.pop_front();
    for (const Transfer& transfer : all_) {
      if (!transfer.is_done) return false;
    }
    return true;
  }
  // For callers that process the transfers one by one, in the order in which they were started.
  bool first_done() const { return all_.front().is_done; }
  void drop_first() { all_.pop_front(); }

 private:
  Messenger& messenger_;
  std::deque<Transfer> all_;
};

}  // namespace trireme::comm
