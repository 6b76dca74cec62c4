// ReconnectingStore is a Store behind a server that may die and be restarted, such as the
// coordinator of an elastic job: it reconnects, repeats the calls that were in flight, and sets its
// session-bound keys again. Callers notice at most a pause.
//
// Repeats:       a call whose connection broke may have been applied before the server died. Then
//                 set, get, wait, list   repeating changes nothing;
//                 compare_and_set        finds its own `desired` value and reports swapped, as
//                                        it would for another call with the same bytes;
//                 erase                  may return false although this call erased the key;
//                 add                    may count twice: use it only where that does no harm.
// Sessions:      a key that was set is set again, even if another process wrote it meanwhile. A key
//                that was won by compare_and_set is claimed again only while it is free; a caller
//                that relies on it must check. Other processes see such keys vanish with the server
//                and return within kLookPeriod.
// Watches:       a watch that was reopened first reports the existing keys, and which of the keys
//                it had reported no longer exist.
// Errors:        while the server is gone, a call waits for it until the call's own deadline
//                (Deadline), and at most until the server has been gone for `patience` (PeerLost).
//                Later calls try once. If the server's host is unreachable, noticing that takes
//                an additional quarter of `patience`, at most 30 s.
// Thread safety: any thread may call; an internal thread checks whether the connection is alive.
// Lifetime:      its watches must not outlive it.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "trireme/cluster/store/remote_store.h"
#include "trireme/cluster/store/store.h"
#include "trireme/net/auth/credentials.h"

namespace trireme::cluster {

class ReconnectingStore final : public Store {
 public:
  static constexpr Duration kLookPeriod = std::chrono::milliseconds(100);

  struct Options {
    net::Address address;
    std::shared_ptr<const net::Credentials> credentials;
    Duration patience = std::chrono::seconds(60);
  };

  // Connects; retries while no server is listening yet, until the deadline.
  ReconnectingStore(Options options, Deadline deadline);
  ~ReconnectingStore() override;

  std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) override;

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override;

 private:
  class ReconnectingWatch;
  using Link = std::shared_ptr<RemoteStore>;
  struct Held {
    Bytes value;
    bool is_claimed = false;  // by compare_and_set
  };

  // Repeats the call until it completes on an unbroken connection; reports whether it repeated.
  template <class Call>
  auto lasting(Deadline deadline, Call call, bool* is_repeated = nullptr);
  Link connected(Deadline deadline);
  Link connect(Deadline deadline) const;
  void restore(RemoteStore& store, Deadline deadline);
  void drop(const Link& link);
  void note(const Link& link, const StoreRequest& request, Deadline deadline);
  void hold(const Link& link, std::string_view key, Held held, Deadline deadline);
  void let_go(std::string_view key);
  void look();

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Link link_;  // null: the connection is known to be gone
  TimePoint lost_{};
  bool is_connecting_ = false;
  bool is_ending_ = false;
  std::map<std::string, Held, std::less<>> held_;
  std::thread looker_;
};

}  // namespace trireme::cluster
