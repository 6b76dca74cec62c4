// Service is the interface that a Server's services implement: it receives requests and answers
// them immediately or later.
//
// Thread safety: every member is called on the server's loop thread, never concurrently, so a
//                service needs no locks for its own state. Caller handles may be used from any
//                thread and may outlive the session; using one after the session ended does
//                nothing.
// Errors:        an Error thrown by on_request is sent to the caller unchanged; any other exception
//                is sent as RemoteFailure with its text. The session and the server continue. A
//                Caller that is destroyed without an answer fails its request with RemoteFailure.

#pragma once

#include <cstdint>
#include <memory>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/net/auth/credentials.h"

namespace trireme::net {

using SessionId = std::uint64_t;

// Sends the answer to one request.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual void reply(ByteView payload) = 0;
  virtual void fail(const Error& error) = 0;
  // Sends one item of a stream. Returns false if the caller disconnected, has cancelled, or lags by
  // more than the server's output bound (it is then disconnected); the service must stop sending.
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
  // The session's connection ended for whatever reason; its open requests need no answer.
  virtual void on_session_end(SessionId session) { (void)session; }
};

}  // namespace trireme::net
