// EtcdWatch is a Watch on keys of etcd: it lists them, and then follows the changes.
//
// None missed:   after a connection is lost, it continues after the last change that it reported,
//                at any member that answers. If etcd has compacted changes that were not reported
//                yet, or was restored to an earlier state, next() throws Exhausted once and then
//                starts again: it reports the keys that are gone, as erased, and the existing keys.
// Order:         by revision. Keys that end with one session share a revision.
// Errors:        Deadline; Exhausted as above; what EtcdClient throws.
// Thread safety: any thread may call next(); one thread at a time reads, the others wait for their
//                turn.
// Bounds:        reads only while a caller waits; changes that are not requested stay in etcd.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/cluster/store/etcd/client.h"
#include "trireme/cluster/store/etcd/message.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster::etcd {

class EtcdWatch final : public Watch {
 public:
  // The first `root_size` bytes of each key are cut off. Lists the keys.
  EtcdWatch(EtcdClient& client, Keys keys, std::size_t root_size, Deadline deadline);
  // Reports only changes from this revision on.
  EtcdWatch(EtcdClient& client, Keys keys, std::size_t root_size, std::uint64_t from_revision);

  StoreChange next(Deadline deadline) override;

 private:
  StoreChange next_change(Deadline deadline);
  void list(Deadline deadline);
  void read(Deadline deadline);
  void take_line(const std::string& line, Deadline deadline);
  void begin_again(const std::string& why, Deadline deadline);
  void tell(const Event& event);

  EtcdClient& client_;
  const Keys keys_;
  const std::size_t root_size_;
  std::mutex mutex_;
  std::condition_variable turn_;
  bool is_reading_ = false;  // guarded by mutex_; the reading thread owns the members below
  std::uint64_t next_revision_ = 0;
  std::unique_ptr<net::HttpConnection> stream_;
  std::string text_;                 // from the stream, not yet a complete line
  std::deque<StoreChange> changes_;  // read, not yet reported
  std::set<std::string> known_;      // keys that exist, as far as the stream was read
};

}  // namespace trireme::cluster::etcd
