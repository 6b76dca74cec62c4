// Service is what a Server offers: it is handed requests and answers them, now or later.
//
// Threads: every member is called on the server's one loop thread, never two at once, so a
//          service needs no locks for what only it touches. Caller handles may be used from any
//          thread and outlive the session; using one after the session ended does nothing.
// Failure: an Error thrown by on_request is sent to the caller as it is; any other exception as
//          RemoteFailure with its text. The session and the server live on. A Caller destroyed
//          without an answer fails its request with RemoteFailure.

#pragma once

#include <cstdint>
#include <memory>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/net/credentials.h"

namespace trireme::net {

using SessionId = std::uint64_t;

// The way back to whoever made one request.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual void reply(ByteView payload) = 0;
  virtual void fail(const Error& error) = 0;
  // Items of a stream. False when the caller is gone, has cancelled, or lags by more than the
  // server's output bound (it is then disconnected): stop sending.
  virtual bool send_item(ByteView payload) = 0;
  virtual void end() = 0;
};

struct Request {
  std::uint16_t method = 0;
  SessionId session = 0;
  Identity identity;
  ByteView payload;
  std::shared_ptr<Caller> caller;  // null for a Post
};

class Service {
 public:
  virtual ~Service() = default;
  virtual void on_request(const Request& request) = 0;
  // The session's connection is gone, for whatever reason; what it had asked for is moot.
  virtual void on_session_end(SessionId session) { (void)session; }
};

}  // namespace trireme::net
