// HttpConnection is a client connection to a plain HTTP/1.1 server such as etcd, for one request at
// a time. It neither authenticates nor encrypts. Trireme's own components use net::Client, which
// authenticates both ends.
//
//   HttpConnection connection(address, deadline);
//   auto reply = connection.post({.path = "/v3/kv/range", .body = json}, deadline);
//
// For a reply of unbounded length, call start() and then read() for each piece.
//
// Hostile input: a head, or the framing of one chunk, is refused as invalid when it exceeds about
//                kHeadMax bytes. The body of a started reply is not limited: the caller must
//                enforce its own limit.
// Errors:        Unreachable if no connection was made; Deadline; PeerLost if the connection ended;
//                Protocol for invalid HTTP; Exhausted for a body larger than kBodyMax. After any of
//                them can_go_on() is false, except that a read() that threw Deadline may be
//                repeated without loss of data.
// Thread safety: one thread at a time.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "trireme/base/deadline.h"
#include "trireme/net/address.h"
#include "trireme/net/socket.h"

namespace trireme::net {

class HttpConnection {
 public:
  static constexpr std::size_t kBodyMax = std::size_t{64} << 20;
  static constexpr std::size_t kHeadMax = 65536;

  struct Request {
    std::string_view path;
    std::string_view body;    // JSON
    std::string_view fields;  // additional header fields, each line with its "\r\n"
  };
  struct Reply {
    int status = 0;
    std::string body;
  };

  HttpConnection(const Address& address, Deadline deadline);
  ~HttpConnection();

  // REQUIRES: can_go_on().
  Reply post(const Request& request, Deadline deadline);
  // Sends the request and waits for the reply's status. REQUIRES: can_go_on().
  int start(const Request& request, Deadline deadline);
  // The next piece of the started reply's body; empty once the body has ended.
  std::string read(Deadline deadline);

  // True if another request can be made: none is in progress, and the server has not closed the
  // connection.
  bool can_go_on() const noexcept;

 private:
  struct Parser;  // Boost.Beast's

  void send_all(std::string_view text, Deadline deadline);
  // Parses the next part of what was received; returns false if more must be received before.
  bool parse();
  void receive_head(Deadline deadline);
  void receive_some(Deadline deadline);
  void require_time(Deadline deadline) const;

  const std::string host_;
  Socket socket_;
  std::unique_ptr<Parser> parser_;  // of the reply in progress
  std::string unread_;              // received, but not parsed yet
  bool is_idle_ = true;
};

}  // namespace trireme::net
