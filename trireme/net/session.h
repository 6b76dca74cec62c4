// Session is one member's connection on the server. It reads requests, dispatches them to services
// by the method's high byte, and stops reading while its Outbox is congested.
//
// Thread safety: the loop's thread only; services hold only the Outbox, through Caller handles.
// Errors:        the session is closed if the client sends invalid bytes or reads too slowly; the
//                reason is kept for the log.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trireme/base/log.h"
#include "trireme/net/auth/credentials.h"
#include "trireme/net/frame.h"
#include "trireme/net/outbox.h"
#include "trireme/net/service.h"

namespace trireme::net {

// The service for each high byte of a method number; null if there is none.
using ServiceTable = std::array<std::shared_ptr<Service>, 256>;

class Session {
 public:
  enum class State { Open, Left, Cut };

  Session(SessionId id, Identity identity, std::shared_ptr<Outbox> outbox,
          const ServiceTable& services, std::size_t payload_max, Log log);
  // Closes the connection. Handles that services still hold have no effect afterwards.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // `rest`: bytes received after the handshake.
  State start(ByteView rest);
  // `scratch` is the loop's receive buffer; it is used only during the call.
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
