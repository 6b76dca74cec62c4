// EtcdWriter applies each change in etcd exactly once, however often answers are lost and requests
// are repeated.
//
// A change is a transaction that also writes a marker, a key that belongs to this EtcdWriter, and
// requires that the marker is as the last change left it. A copy of the request that arrives later,
// even much later, finds a different marker and does nothing; the copy's answer contains the
// marker, which tells that the change was applied. Markers are bound to a lease and end with it.
//
// Doubt:         if a call throws, its change may have been applied or may still be applied later;
//                the marker that it used is never used again.
// Errors:        what EtcdClient throws.
// Thread safety: any thread may call; each call has its own marker while it runs.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/cluster/store/etcd/client.h"
#include "trireme/cluster/store/etcd/message.h"

namespace trireme::cluster::etcd {

class EtcdWriter {
 public:
  struct Outcome {
    bool is_made = false;
    std::optional<Item> current{};  // the existing value, if the change was not applied
    // The comparison was not made because the lease has expired. In doubt: the change may have been
    // applied before that.
    bool is_lease_over = false;
    bool is_in_doubt = false;
  };

  // Markers are keys that begin with `root`, which no other EtcdWriter uses.
  EtcdWriter(EtcdClient& client, std::string root) : client_(client), root_(std::move(root)) {}

  Outcome write(const Mutation& mutation, std::uint64_t lease, Deadline deadline);

 private:
  struct Slot {
    std::string key;
    std::uint64_t lease = 0;
    std::uint64_t number = 0;    // of the last change
    std::uint64_t revision = 0;  // of the marker; 0: not written yet
  };

  Slot take(std::uint64_t lease);
  void give_back(Slot slot);

  EtcdClient& client_;
  const std::string root_;
  std::mutex mutex_;
  std::vector<Slot> free_;
  std::uint64_t made_ = 0;  // number of slots created so far
};

}  // namespace trireme::cluster::etcd
