// EtcdSession is the lifetime of one store object in etcd: a lease, which a thread keeps alive, and
// the keys that end with it.
//
// End:           the destructor revokes the lease, and the keys vanish at once. The keys of a
//                process that dies remain for kLeaseTime; a process that is frozen or disconnected
//                for that long loses its keys.
// Loss:          a lease that expired nevertheless is replaced, and its keys are restored: a key
//                that was set is set again; a key that was won by a comparison is claimed again
//                only while it is free, and otherwise given up. While etcd itself is down, no lease
//                expires, and an etcd that is restarted on its data restarts the time of all
//                leases.
// Errors:        what EtcdClient throws; PeerLost if the lease expired while an answer was lost, so
//                that it is unknown whether the change was applied.
// Thread safety: any thread may call.
// Lifetime:      the destructor may take a few seconds if no member answers.

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
#include "trireme/cluster/store/etcd/client.h"
#include "trireme/cluster/store/etcd/message.h"
#include "trireme/cluster/store/etcd/writer.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster::etcd {

class EtcdSession {
 public:
  static constexpr std::chrono::seconds kLeaseTime{5};

  // Creates the lease. `marker_root`: see EtcdWriter.
  EtcdSession(EtcdClient& client, std::string marker_root, Deadline deadline);
  ~EtcdSession();
  EtcdSession(const EtcdSession&) = delete;
  EtcdSession& operator=(const EtcdSession&) = delete;

  // Applies the change, with this session's lease if `lifetime` requires it, and remembers to apply
  // it again if the lease is lost. The outcome is never in doubt.
  EtcdWriter::Outcome write(Mutation mutation, Lifetime lifetime, Deadline deadline);

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

  EtcdClient& client_;
  EtcdWriter writer_;
  std::mutex renewing_;
  mutable std::mutex mutex_;  // guards is_ending_ to losses_; locked after the other mutexes
  std::condition_variable changed_;
  bool is_ending_ = false;
  bool is_renewed_ = false;  // there are keys to restore
  std::uint64_t lease_ = 0;
  int losses_ = 0;
  // Held while a key is restored, so that a key that was given up meanwhile does not come back.
  std::mutex holding_;
  std::map<std::string, Held, std::less<>> held_;  // guarded by holding_
  std::set<std::string> missing_;                  // those of held_ that must be restored; guarded
                                                   // by holding_
  std::thread thread_;
};

}  // namespace trireme::cluster::etcd
