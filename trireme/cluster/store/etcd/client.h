// EtcdClient sends requests to an etcd cluster of one or several members, through each member's
// JSON gateway (3.4 or newer). If a member does not answer, the client tries the next one, in a
// cycle.
//
// Repeats:       a request is sent again when its answer was lost, and may then have been applied
//                twice; Answer::is_repeated reports that. A request that must not be applied twice
//                guards itself by its own comparisons (see Writer).
// Errors:        Deadline; PeerLost once no member has answered for `patience`, and then from every
//                call that fails to reach a member; refusals by etcd, as an Error with etcd's text.
// Security:      none; neither TLS nor passwords are supported. Any process that can reach that
//                etcd can read and write it.
// Bounds:        at most kIdleMax connections are kept open between calls.
// Thread safety: any thread may call.

#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/net/address.h"
#include "trireme/net/http/http_connection.h"

namespace trireme::cluster::etcd {

class EtcdClient {
 public:
  static constexpr std::size_t kIdleMax = 8;
  // After this time without an answer the client tries the next member.
  static constexpr Duration kAttemptTime = std::chrono::seconds(2);

  struct Options {
    std::vector<net::Address> members;
    Duration patience = std::chrono::seconds(60);
  };
  struct Answer {
    std::string text;
    std::optional<Error> refusal{};
    bool is_repeated = false;
  };

  explicit EtcdClient(Options options);

  // Returns the answer, or the reason why etcd refuses the request.
  Answer ask(std::string_view path, const std::string& body, Deadline deadline);
  // Returns the answer's text; throws if etcd refuses the request.
  std::string call(std::string_view path, const std::string& body, Deadline deadline);
  // Opens a stream that continues for as long as the connection is kept.
  std::unique_ptr<net::HttpConnection> open(std::string_view path, const std::string& body,
                                            Deadline deadline);

 private:
  class Attempts;
  using Connection = std::unique_ptr<net::HttpConnection>;

  Connection dial(std::size_t member, Deadline deadline) const;
  std::pair<Connection, std::size_t> take();
  void give_back(Connection connection, std::size_t member);
  std::size_t member() const;
  void note_answer();
  void leave(std::size_t member);

  const Options options_;
  mutable std::mutex mutex_;
  std::size_t member_ = 0;         // the current member
  std::vector<Connection> idle_;   // connections to the current member
  std::optional<TimePoint> gone_;  // since when no member has answered
};

}  // namespace trireme::cluster::etcd
