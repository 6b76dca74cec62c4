// EtcdWatch is a Watch on keys of etcd: it lists them, and then follows the changes since.
//
// None missed: after a connection is lost it goes on behind the last change that it told of, at
//              whatever member answers. Where etcd has compacted changes away that were not told
//              yet, or was set back, next() throws Exhausted, once, and then begins again: with the
//              keys that are gone, as erased, and what is there.
// Order:       by revision. Keys that end with one session share one.
// Failure:     Deadline; Exhausted as above; what Client throws.
// Threads:     any thread may call next(); one at a time reads, the others wait for their turn.
// Bounds:      reads only while somebody waits; what is not asked for stays with etcd.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/cluster/etcd/client.h"
#include "trireme/cluster/etcd/message.h"
#include "trireme/cluster/store.h"

namespace trireme::cluster::etcd {

class EtcdWatch final : public Watch {
 public:
  // `root_size` bytes of each key are cut off. Lists the keys.
  EtcdWatch(Client& client, Keys keys, std::size_t root_size, Deadline deadline);
  // Only what changes from this revision on.
  EtcdWatch(Client& client, Keys keys, std::size_t root_size, std::uint64_t from_revision);

  StoreChange next(Deadline deadline) override;

 private:
  StoreChange next_change(Deadline deadline);
  void list(Deadline deadline);
  void read(Deadline deadline);
  void take_line(const std::string& line, Deadline deadline);
  void begin_again(const std::string& why, Deadline deadline);
  void tell(const Event& event);

  Client& client_;
  const Keys keys_;
  const std::size_t root_size_;
  std::mutex mutex_;
  std::condition_variable turn_;
  bool is_reading_ = false;  // guarded by mutex_; what follows is of whoever reads
  std::uint64_t next_revision_ = 0;
  std::unique_ptr<net::HttpConnection> stream_;
  std::string text_;                 // of the stream, not yet a line
  std::deque<StoreChange> changes_;  // read, not yet told
  std::set<std::string> known_;      // keys that are there, as far as was read
};

}  // namespace trireme::cluster::etcd
