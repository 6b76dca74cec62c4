// HttpConnection is a client's connection to a plain HTTP/1.1 server, for one request after the
// other: what other people's servers speak, such as etcd. Trireme's own parts speak net::Client,
// which proves who is there; this proves nothing and encrypts nothing.
//
//   HttpConnection connection(address, deadline);
//   auto reply = connection.post({.path = "/v3/kv/range", .body = json}, deadline);
//
// A reply without end is begun with start() and then read piece by piece.
//
// Failure: Unreachable where no connection came about; Deadline; PeerLost when it ended; Protocol
//          for what is no HTTP; Exhausted for a body over kBodyMax. After any of them can_go_on()
//          is false, but a read() that met its deadline may be repeated and has lost nothing.
// Threads: one at a time.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "trireme/base/deadline.h"
#include "trireme/net/address.h"
#include "trireme/net/http_reply.h"
#include "trireme/net/socket.h"

namespace trireme::net {

class HttpConnection {
 public:
  static constexpr std::size_t kBodyMax = std::size_t{64} << 20;

  struct Request {
    std::string_view path;
    std::string_view body;    // JSON
    std::string_view fields;  // more of the head, each line with its "\r\n"
  };
  struct Reply {
    int status = 0;
    std::string body;
  };

  HttpConnection(const Address& address, Deadline deadline);

  // REQUIRES: can_go_on().
  Reply post(const Request& request, Deadline deadline);
  // Sends the request and waits for the reply's status. REQUIRES: can_go_on().
  int start(const Request& request, Deadline deadline);
  // More of the body of what was started; empty once that has ended.
  std::string read(Deadline deadline);

  // Another request can be made: nothing is under way, and the server has not hung up.
  bool can_go_on() const noexcept;

 private:
  void send_all(std::string_view text, Deadline deadline);
  void receive_some(Deadline deadline);

  const std::string host_;
  Socket socket_;
  HttpReply reply_;
  bool is_idle_ = true;
};

}  // namespace trireme::net
