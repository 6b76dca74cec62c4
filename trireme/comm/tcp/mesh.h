// TcpMessenger holds one rank's TCP connections to the other ranks of a job. It is a Messenger for
// collectives and a ProgressSource for the engine.
//
// A pair of ranks may use several streams, which carry the chunks of large messages in turn, if one
// stream does not reach the bandwidth of the network.
//
// Thread safety: one thread at a time (the engine's lock), except wake().

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "trireme/base/file/descriptor.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/tcp/link.h"

namespace trireme::comm::tcp {

struct Connected {
  int peer = 0;
  net::Socket socket;
  Bytes rest;  // bytes received after the handshake
};

class TcpMessenger final : public Messenger, public ProgressSource {
 public:
  // `connections` contains the streams of each peer, in the same order on both sides.
  TcpMessenger(int rank, std::vector<Connected> connections, bool checksums);
  ~TcpMessenger() override;

  int rank() const noexcept override { return rank_; }
  void send(int peer, const MessageId& id, ByteView data, Transfer& transfer) override;
  void receive(int peer, const MessageId& id, std::span<std::byte> into,
               Transfer& transfer) override;
  void cancel(Transfer& transfer) noexcept override;
  void forget(std::uint64_t group) noexcept override;
  bool awaits(int peer, std::uint64_t group, std::uint64_t sequence) const override;
  std::optional<Error> loss(int peer) const override;
  std::optional<Error> announcement(std::uint64_t group) const override;
  void announce(std::uint64_t group, std::span<const int> peers,
                const Error& error) noexcept override;

  bool poll() override;
  void prepare_sleep() override {}
  void sleep(Duration longest) override;
  void finish_sleep() override {}
  void wake() noexcept override;

 private:
  struct Stream {
    std::unique_ptr<Link> link;
    std::uint32_t watched = 0;  // the events registered with epoll
  };

  Link& link(int peer, const MessageId& id);
  void watch(Stream& stream);

  int rank_;
  Descriptor epoll_;
  Descriptor wake_;
  std::vector<Stream> streams_;
  std::map<int, std::vector<std::size_t>> by_peer_;  // indices of streams_
  std::map<std::uint64_t, Error> announcements_;     // by group, until the group is forgotten

  std::mutex forgotten_mutex_;
  std::vector<std::uint64_t> forgotten_;  // groups that the links have not yet been told of
};

}  // namespace trireme::comm::tcp
