// Doorkeeper accepts connections and authenticates them. A connection that has not finished its
// handshake is called a stranger.
//
// Timeouts:      a stranger has `handshake_timeout` to authenticate. When there are already
//                `strangers_max` strangers and another connection arrives, the oldest stranger is
//                closed if it has had `grace`; until then the listener pauses and the new
//                connection waits in the kernel's queue.
// Shortage:      without free descriptors, new connections are accepted with a spare descriptor and
//                closed, so that the clients get an immediate error and the loop does not spin.
// Thread safety: used by the loop's thread; any thread may read the counters.
// Errors:        none after construction; an error on one connection closes only that connection.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/base/log.h"
#include "trireme/net/auth/credentials.h"
#include "trireme/net/listener.h"
#include "trireme/net/log_throttle.h"

namespace trireme::net {

class Doorkeeper {
 public:
  struct Rules {
    std::shared_ptr<const Credentials> credentials;
    std::chrono::milliseconds handshake_timeout{0};
    std::chrono::milliseconds grace{0};
    std::size_t strangers_max = 0;
    std::string purpose{};  // the purpose that this end announces, see Identity
    // Returns a reason to refuse an authenticated connection before it is accepted, or nothing to
    // accept it. An empty function accepts all.
    std::function<std::optional<std::string>(const Identity&)> refusal{};
  };

  struct Counters {
    std::atomic<std::uint64_t> connections = 0;
    std::atomic<std::uint64_t> refused = 0;
    std::atomic<std::uint64_t> timed_out = 0;
    std::atomic<std::uint64_t> crowded_out = 0;
  };

  // An authenticated connection; its socket stays registered in epoll under `id`.
  struct Guest {
    std::uint64_t id = 0;
    Socket socket;
    Identity identity;
    Bytes rest;  // bytes received after the handshake
  };

  static constexpr std::uint64_t kListenerTag = 0;
  static constexpr std::uint64_t kFirstId = 16;

  Doorkeeper(const Address& address, Rules rules, int epoll, Log log);

  const Address& address() const noexcept { return listener_.address(); }
  const Counters& counters() const noexcept { return counters_; }

  // Call when the listener is readable.
  void on_listener();
  bool has_stranger(std::uint64_t id) const { return strangers_.contains(id); }
  // Call when a stranger sent data or closed the connection. Without `has_room`, even an
  // authenticated connection is refused, before it receives the welcome message.
  std::optional<Guest> on_stranger(std::uint64_t id, bool has_room);
  // The time at which on_time() must be called.
  Deadline next_deadline() const;
  void on_time();

 private:
  struct Stranger {
    Socket socket;
    std::unique_ptr<Handshake> handshake;
    TimePoint since;
  };
  using Strangers = std::map<std::uint64_t, Stranger>;  // ids increase, so the first is the oldest

  void admit(Socket socket);
  // Removes the handshake's bytes from `input`. Returns why the connection must be closed, or
  // nothing.
  std::optional<std::string> converse(Stranger& stranger, ByteView& input);
  void shed();
  void drop(Strangers::iterator stranger, std::atomic<std::uint64_t>& counter,
            std::string_view why);
  void rest_until(TimePoint when);
  void listen();

  const Rules rules_;
  const int epoll_;
  Listener listener_;
  LogThrottle log_;
  Descriptor spare_;
  Strangers strangers_;
  std::uint64_t next_id_ = kFirstId;
  std::optional<TimePoint> resting_until_;
  Counters counters_;
};

}  // namespace trireme::net
