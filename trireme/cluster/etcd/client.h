// Client asks an etcd of one or several members, through the JSON gateway that each of them has
// (3.4 or newer). A member that does not answer is left for the next one, round and round.
//
// Repeats: a request is sent again when its answer was lost, and may then have been done twice:
//          Answer::is_repeated says so. What must not be done twice is guarded by what the request
//          itself compares (see Writer).
// Failure: Deadline; PeerLost once nobody has answered for `patience`, and then from every call
//          that tries in vain; what etcd refuses, as an Error with its text.
// Protection: none: neither TLS nor passwords. Whoever reaches that etcd reads and writes it.
// Threads: any thread may call. Bounds: kIdleMax connections are kept open between calls.

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
#include "trireme/net/http_connection.h"

namespace trireme::cluster::etcd {

class Client {
 public:
  static constexpr std::size_t kIdleMax = 8;
  // A member that has not answered for so long is left.
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

  explicit Client(Options options);

  // The answer, or why etcd refuses it.
  Answer ask(std::string_view path, const std::string& body, Deadline deadline);
  // The answer's text; throws what is refused.
  std::string call(std::string_view path, const std::string& body, Deadline deadline);
  // An answer that goes on for as long as the connection is kept.
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
  std::size_t member_ = 0;         // the one that is asked
  std::vector<Connection> idle_;   // to that one
  std::optional<TimePoint> gone_;  // since when nobody answers
};

}  // namespace trireme::cluster::etcd
