// LastingStore is a Store behind a server that may die and come back, such as an elastic job's
// coordinator: it connects again, repeats what was in flight, and sets its session-bound keys
// again. Callers notice a pause at most.
//
// Repeats: a call whose connection broke may have been done before the server died. Then
//            set, get, wait, list   repeating changes nothing;
//            compare_and_set        finds its own `desired` there and says swapped, as it would
//                                   for another's call with the very same bytes;
//            erase                  may say false though it was we who erased;
//            add                    may count twice: use it where that does no harm.
// Sessions: a key that was set is set again, whoever wrote it meanwhile. A key that was won by
//          compare_and_set is claimed again only while it is free: who relies on it, looks. Others
//          see such keys vanish with the server and come back within kLookPeriod.
// Watches: a watch that was opened again first tells what is there, and which of the keys that it
//          told of are not there any more.
// Failure: while the server is gone a call waits for it until its own deadline (Deadline), and
//          at most until the server has been gone for `patience`: PeerLost. Later calls try once.
//          One whose host is out of reach is noticed a quarter of that later.
// Threads: any thread may call; one of its own looks whether the connection lives.
// Lifetime: its watches must not outlive it.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "trireme/cluster/remote_store.h"
#include "trireme/cluster/store.h"
#include "trireme/net/credentials.h"

namespace trireme::cluster {

class LastingStore final : public Store {
 public:
  static constexpr Duration kLookPeriod = std::chrono::milliseconds(100);

  struct Options {
    net::Address address;
    std::shared_ptr<const net::Credentials> credentials;
    Duration patience = std::chrono::seconds(60);
  };

  // Connects; keeps trying while nobody listens yet, until the deadline.
  LastingStore(Options options, Deadline deadline);
  ~LastingStore() override;

  void set(std::string_view key, ByteView value, Deadline deadline,
           Lifetime lifetime = Lifetime::Job) override;
  std::optional<Bytes> get(std::string_view key, Deadline deadline) override;
  Bytes wait(std::string_view key, Deadline deadline) override;
  std::int64_t add(std::string_view key, std::int64_t delta, Deadline deadline) override;
  SwapResult compare_and_set(std::string_view key, std::optional<ByteView> expected,
                             std::optional<ByteView> desired, Deadline deadline,
                             Lifetime lifetime = Lifetime::Job) override;
  bool erase(std::string_view key, Deadline deadline) override;
  std::vector<StoreChange> list(std::string_view prefix, Deadline deadline) override;
  std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) override;

  // How often it had to connect again.
  int reconnects() const;

 private:
  class LastingWatch;
  using Link = std::shared_ptr<RemoteStore>;
  struct Held {
    Bytes value;
    bool is_claimed = false;  // by compare_and_set
  };

  // Calls until the connection does not break in between; says whether it repeated.
  template <class Call>
  auto lasting(Deadline deadline, Call call, bool* is_repeated = nullptr);
  Link connected(Deadline deadline);
  Link connect(Deadline deadline) const;
  void restore(RemoteStore& store, Deadline deadline);
  void drop(const Link& link);
  void hold(const Link& link, std::string_view key, Held held, Deadline deadline);
  void let_go(std::string_view key);
  void look();

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Link link_;  // null: the connection is known to be gone
  TimePoint lost_{};
  bool is_connecting_ = false;
  bool is_ending_ = false;
  int reconnects_ = 0;
  std::map<std::string, Held, std::less<>> held_;
  std::thread looker_;
};

}  // namespace trireme::cluster
