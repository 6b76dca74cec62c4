// Writer makes changes in etcd exactly once each, however often their answers are lost and the
// requests repeated.
//
// A change is a transaction that also writes a marker, a key of this Writer's own, and demands that
// the marker is as the last change left it. A copy of the request that arrives later, even much
// later, then finds another marker and does nothing; and the copy's answer shows the marker, which
// tells that the change was made. Markers belong to a lease and go with it.
//
// Doubt:   where a call throws, its change may have been made or may still be; the marker that it
//          used is never used again.
// Failure: what Client throws.
// Threads: any thread may call; each call has a marker of its own meanwhile.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/cluster/etcd/client.h"
#include "trireme/cluster/etcd/message.h"

namespace trireme::cluster::etcd {

class Writer {
 public:
  struct Outcome {
    bool is_made = false;
    std::optional<Item> current{};  // what is there, where it was not made
    // Nothing was compared: the lease that was to be used is over. In doubt: the change may have
    // been made before that.
    bool is_lease_over = false;
    bool is_in_doubt = false;
  };

  // Markers are keys that begin with `root`, which nobody else uses.
  Writer(Client& client, std::string root) : client_(client), root_(std::move(root)) {}

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

  Client& client_;
  const std::string root_;
  std::mutex mutex_;
  std::vector<Slot> free_;
  std::uint64_t made_ = 0;  // slots so far
};

}  // namespace trireme::cluster::etcd
