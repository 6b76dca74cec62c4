// Server listens, lets in only those who prove knowledge of the job's secret, and hands their
// requests to services, on one thread.
//
// Strangers: a connection that does not finish the handshake within `handshake_timeout` or sends
//            anything unexpected is closed, counted and (at a civil rate) logged. It costs one
//            descriptor and under a kilobyte. While `strangers_max` are unproven newcomers wait in
//            the kernel's queue; the eldest of the unproven gives way once it has had
//            `stranger_grace`, so that members get in however many silent strangers knock.
// Bounds:    `sessions_max` members; `output_max` bytes queued a session: beyond it the server
//            stops reading that session's requests, and a session whose stream overflows it is
//            cut. 4096 open requests a session; 65536 posted tasks.
// Failure:   a session that breaks the protocol is cut; the server lives on. Without descriptors
//            left it turns newcomers away and keeps those it has.
// Threads:   members from any thread. Services run on the loop's thread, which blocks all signals.
// Lifetime:  the destructor stops the loop, closes every session and removes a unix socket. It
//            must not run on the loop's own thread.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "trireme/base/log.h"
#include "trireme/net/address.h"
#include "trireme/net/service.h"

namespace trireme::net {

struct ServerCounters {
  std::uint64_t sessions_accepted = 0;
  std::uint64_t strangers_refused = 0;  // wrong secret, garbage, wrong version, or gone again
  std::uint64_t strangers_timed_out = 0;
  std::uint64_t strangers_crowded_out = 0;  // gave way, or came when there was no room
  std::uint64_t sessions_cut = 0;           // broke the protocol or lagged after being let in
  // All that ever came: the sum of accepted, refused, timed out, crowded out and still unproven.
  std::uint64_t connections = 0;
};

class Server {
 public:
  struct Options {
    // Loopback unless told otherwise; port 0 picks a free one.
    Address address = Address::tcp("127.0.0.1", 0);
    std::shared_ptr<const Credentials> credentials{};
    std::chrono::milliseconds handshake_timeout{2000};
    std::chrono::milliseconds stranger_grace{50};
    std::size_t strangers_max = 128;
    std::size_t sessions_max = 4096;
    std::size_t output_max = std::size_t{8} << 20;
    std::size_t payload_max = std::size_t{64} << 20;
    Log log{};
  };

  // Methods are dealt by their high byte: service s gets methods s*256 ... s*256+255.
  using Services = std::vector<std::pair<std::uint8_t, std::shared_ptr<Service>>>;

  // Listens at once. Throws Io, Exhausted or InvalidInput when it cannot.
  Server(Options options, Services services);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where it listens, with the port that was picked.
  const Address& address() const noexcept;
  ServerCounters counters() const;

  // Runs `task` on the loop thread soon, in order. For services that are driven from outside.
  // Throws Exhausted when too many wait already.
  void post(std::function<void()> task);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace trireme::net
