// Server accepts connections that prove knowledge of the job's secret, and passes their requests to
// services, on one thread.
//
// Strangers:     a connection that does not finish the handshake within `handshake_timeout`, or
//                sends anything unexpected, is closed, counted and logged (at a limited rate).
//                Until it is authenticated, a connection is called a stranger; it costs one
//                descriptor and less than a kilobyte. While there are `strangers_max` strangers,
//                new connections wait in the kernel's queue. The oldest stranger is closed once it
//                has had `stranger_grace`, so that members can connect however many silent
//                strangers there are.
// Bounds:        `sessions_max` sessions; `output_max` bytes queued per session: beyond it the
//                server stops reading that session's requests, and closes a session whose stream
//                exceeds it. 4096 open requests per session; 65536 posted tasks.
// Errors:        a session that violates the protocol is closed; the server continues. Without free
//                descriptors it refuses new connections and keeps existing ones.
// Thread safety: any thread may call any member. Services run on the loop's thread, which blocks
//                all signals.
// Lifetime:      the destructor stops the loop, closes every session and removes a unix socket. It
//                must not run on the loop's own thread.

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
  std::uint64_t strangers_refused = 0;  // wrong secret, version or data, or gone
  std::uint64_t strangers_timed_out = 0;
  std::uint64_t strangers_crowded_out = 0;  // closed for another, or no room
  std::uint64_t sessions_cut = 0;  // closed for a protocol violation or for reading too slowly
  // All connections: the sum of accepted, refused, timed out, crowded out and still
  // unauthenticated.
  std::uint64_t connections = 0;
};

class Server {
 public:
  struct Options {
    // Loopback by default; port 0 selects a free port.
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

  // The high byte of a method selects the service: service s gets methods s*256 ... s*256+255.
  using Services = std::vector<std::pair<std::uint8_t, std::shared_ptr<Service>>>;

  // Starts listening. Throws Io, Exhausted or InvalidInput if it cannot.
  Server(Options options, Services services);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The address it listens on, with the actual port.
  const Address& address() const noexcept;
  ServerCounters counters() const;

  // Runs `task` on the loop thread soon, in order. For services that other threads drive. Throws
  // Exhausted if too many tasks are queued.
  void post(std::function<void()> task);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace trireme::net
