// Session is the life of one store object in etcd: a lease, which a thread keeps alive, and the
// keys that end with it.
//
// End:     the destructor revokes the lease, and the keys go at once. A process that dies leaves
//          them for kLeaseTime; so does one that is frozen or cut off for that long.
// Loss:    a lease that ran out all the same is replaced, and its keys come back: a key that was
//          set is set again; one that was won by a comparison is claimed again only while it is
//          free, and else let go. While etcd itself is down no lease runs out, and one that is
//          started again on its data counts all of them from anew.
// Failure: what Client throws; PeerLost where the lease ran out while an answer was lost, so that
//          nobody can say whether the change was made.
// Threads: any thread may call.
// Lifetime: the destructor may take a few seconds where nobody answers.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "trireme/base/bytes.h"
#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/cluster/etcd/client.h"
#include "trireme/cluster/etcd/message.h"
#include "trireme/cluster/etcd/writer.h"
#include "trireme/cluster/store.h"

namespace trireme::cluster::etcd {

class Session {
 public:
  static constexpr std::chrono::seconds kLeaseTime{5};

  // Makes the lease. `marker_root`: see Writer.
  Session(Client& client, std::string marker_root, Deadline deadline);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Makes the change, with this session's lease where its lifetime says so, and remembers to make
  // it again where the lease is lost. Never in doubt.
  Writer::Outcome write(Mutation mutation, Lifetime lifetime, Deadline deadline);

  // How often the lease was lost.
  int losses() const;
  std::uint64_t lease() const;

 private:
  struct Held {
    Bytes value;
    bool is_claimed = false;
  };

  std::uint64_t grant(Deadline deadline);
  void renew(std::uint64_t lost, Deadline deadline);
  void hold(const Mutation& mutation, std::uint64_t lease);
  void note_value(const Mutation& mutation);
  void let_go(const std::string& key);
  void restore(Deadline deadline);
  void keep_alive();
  void run();

  Client& client_;
  Writer writer_;
  std::mutex renewing_;
  mutable std::mutex mutex_;  // guards what follows; taken after the others
  std::condition_variable changed_;
  bool is_ending_ = false;
  bool is_renewed_ = false;  // there is something to restore
  std::uint64_t lease_ = 0;
  int losses_ = 0;
  // Held while a key is restored, so that one that was let go meanwhile does not come back.
  std::mutex holding_;
  std::map<std::string, Held, std::less<>> held_;  // guarded by holding_
  std::set<std::string> missing_;                  // of them, those to be restored; likewise
  std::thread thread_;
};

}  // namespace trireme::cluster::etcd
