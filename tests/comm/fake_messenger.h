// A messenger that records its calls; a test completes the transfers.

#pragma once

#include <vector>

#include "trireme/comm/algorithm/messenger.h"

namespace trireme::comm {

class FakeMessenger final : public Messenger {
 public:
  int rank() const noexcept override { return 0; }
  void send(int peer, const MessageId& id, ByteView, Transfer& transfer) override {
    transfer.is_sending = true;
    begin(peer, id, transfer);
  }
  void receive(int peer, const MessageId& id, std::span<std::byte>, Transfer& transfer) override {
    begin(peer, id, transfer);
  }
  void cancel(Transfer& transfer) noexcept override { cancelled.push_back(&transfer); }
  void forget(std::uint64_t) noexcept override {}
  bool awaits(int, std::uint64_t, std::uint64_t) const override { return false; }
  std::optional<Error> loss(int) const override { return std::nullopt; }
  std::optional<Error> announcement(std::uint64_t) const override { return std::nullopt; }
  void announce(std::uint64_t, std::span<const int>, const Error&) noexcept override {}

  std::vector<Transfer*> begun;
  std::vector<Transfer*> cancelled;
  int sends = 0;
  int receives = 0;

 private:
  void begin(int peer, const MessageId& id, Transfer& transfer) {
    transfer.peer = peer;
    transfer.id = id;
    begun.push_back(&transfer);
    ++(transfer.is_sending ? sends : receives);
  }
};

}  // namespace trireme::comm
