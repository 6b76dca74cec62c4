// Session is one member's connection on the server: it reads requests, deals them to services by
// the method's high byte, and stops reading while its Outbox is congested.
//
// Threads: the loop's thread only; what services keep of it is the Outbox, behind Caller handles.
// Failure: bytes that no correct client sends, and a caller that lags, cut the session; the reason
//          is kept for the log.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trireme/base/log.h"
#include "trireme/net/credentials.h"
#include "trireme/net/frame.h"
#include "trireme/net/outbox.h"
#include "trireme/net/service.h"

namespace trireme::net {

// By the high byte of a method; null where nobody serves.
using ServiceTable = std::array<std::shared_ptr<Service>, 256>;

class Session {
 public:
  enum class State { Open, Left, Cut };

  Session(SessionId id, Identity identity, std::shared_ptr<Outbox> outbox,
          const ServiceTable& services, std::size_t payload_max, Log log);
  // Closes the connection; handles that services still hold do nothing from then on.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // What came right behind the handshake.
  State start(ByteView rest);
  // `scratch` is where to receive; it is the loop's, and free again afterwards.
  State on_event(std::uint32_t events, std::span<std::byte> scratch);

  SessionId id() const noexcept { return id_; }
  const Identity& identity() const noexcept { return identity_; }
  const std::string& reason() const noexcept { return reason_; }

 private:
  State receive_some(std::span<std::byte> scratch);
  State dispatch();
  bool dispatch_until_congested();
  void handle(const Frame& frame);
  void handle_request(const Frame& frame);
  void serve(const Request& request);
  State over();

  const SessionId id_;
  const Identity identity_;
  const std::shared_ptr<Outbox> outbox_;
  const ServiceTable& services_;
  const Log log_;
  FrameReader reader_;
  bool is_paused_ = false;
  std::string reason_;
};

}  // namespace trireme::net
