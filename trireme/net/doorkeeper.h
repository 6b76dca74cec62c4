// Doorkeeper accepts connections and keeps each outside until it has proven itself.
//
// Time:    a stranger has `handshake_timeout`. When `strangers_max` are waiting and another one
//          knocks, the eldest gives way if it has had `grace`; before that the listener rests and
//          the kernel keeps the newcomer.
// Shortage: without descriptors left, newcomers are accepted into a spare one and closed, so that
//          they learn it at once and the loop does not spin.
// Threads: the loop's thread; counters from any.
// Failure: none after construction; whatever a stranger does ends that stranger.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/descriptor.h"
#include "trireme/base/log.h"
#include "trireme/net/credentials.h"
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
  };

  struct Counters {
    std::atomic<std::uint64_t> connections = 0;
    std::atomic<std::uint64_t> refused = 0;
    std::atomic<std::uint64_t> timed_out = 0;
    std::atomic<std::uint64_t> crowded_out = 0;
  };

  // A connection that has proven itself; its socket stays registered in epoll under `id`.
  struct Guest {
    std::uint64_t id = 0;
    Socket socket;
    Identity identity;
    Bytes rest;  // what came behind the handshake
  };

  static constexpr std::uint64_t kListenerTag = 0;
  static constexpr std::uint64_t kFirstId = 16;

  Doorkeeper(const Address& address, Rules rules, int epoll, Log log);

  const Address& address() const noexcept { return listener_.address(); }
  const Counters& counters() const noexcept { return counters_; }

  // Somebody knocks.
  void on_listener();
  bool has_stranger(std::uint64_t id) const { return strangers_.contains(id); }
  // A stranger sent something or left. With no room inside, who has proven itself is still turned
  // away, before it is told that it is welcome.
  std::optional<Guest> on_stranger(std::uint64_t id, bool has_room);
  // When on_time() has something to do.
  Deadline next_deadline() const;
  void on_time();

 private:
  struct Stranger {
    Socket socket;
    std::unique_ptr<Handshake> handshake;
    TimePoint since;
  };
  using Strangers = std::map<std::uint64_t, Stranger>;  // ids grow, so the first is the eldest

  void admit(Socket socket);
  // Takes from `input` what belongs to the handshake. Says why the stranger has to go, or nothing.
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
