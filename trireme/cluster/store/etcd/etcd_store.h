// EtcdStore is a Store in an existing etcd cluster (3.4 or newer), so that a job's state survives
// each of its processes and no process of the job has to serve it.
//
//   /trireme/<job>/keys/<key>              the key that callers know as <key>
//   /trireme/<job>/calls/<session>/<n>     markers that detect repeated requests (writer.h)
//
// Revisions:    etcd's own; other jobs in the same etcd increment them too, so they have gaps.
// Sessions:     a lease of EtcdSession::kLeaseTime, kept alive by a thread and revoked by the
//               destructor. The keys of a process that died remain for that long; see session.h for
//               a process that froze.
// Exactly once: set, add, compare_and_set and erase are applied exactly once, however often their
//               answers are lost (writer.h). If a call throws Deadline or PeerLost, it may or may
//               not have been applied.
// Waiting:      a wait longer than kPollMax opens its own stream; a shorter one polls. It polls at
//               least once, for which it takes up to kLookTime beyond its deadline.
// Errors:       while no member answers, a call waits until its deadline, or until no member has
//               answered for `patience`: PeerLost. Exhausted when etcd's limits are exceeded: a
//               value over 1.5 MiB, unless etcd was started with a larger --max-request-bytes, a
//               list over 4 MiB, or any write once the disk quota is used up. Unauthenticated if
//               etcd requires a password, which is not supported.
// Cleanup:      keys with Lifetime::Job remain until they are removed with remove_job().
// Lifetime:     its watches must not outlive it.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/store/etcd/client.h"
#include "trireme/cluster/store/etcd/place.h"
#include "trireme/cluster/store/etcd/session.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster::etcd {

class EtcdStore final : public Store {
 public:
  static constexpr Duration kPollMax = std::chrono::milliseconds(150);
  static constexpr Duration kLookTime = std::chrono::milliseconds(50);

  struct Options {
    EtcdPlace place;  // must contain a job
    Duration patience = std::chrono::seconds(60);
  };

  // Creates the session; retries while no member answers, until the deadline.
  EtcdStore(const Options& options, Deadline deadline);

  std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) override;

  // The session's lease, for inspection in etcd.
  std::uint64_t lease() const { return session_.lease(); }

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override;

 private:
  struct Found {
    std::optional<Item> item;
    std::uint64_t revision = 0;
  };

  std::string full(std::string_view key) const { return root_ + std::string(key); }
  Found find(std::string_view key, Deadline deadline);
  StoreValue wait_for(std::string_view key, Deadline deadline);
  std::int64_t add_up(const StoreRequest& request, Deadline deadline);
  StoreReply swap(const StoreRequest& request, Deadline deadline);
  bool remove(std::string_view key, Deadline deadline);
  std::vector<StoreItem> items(std::string_view prefix, Deadline deadline);

  const std::string root_;  // prefix of the keys
  EtcdClient client_;
  EtcdSession session_;
};

// Erases everything that a job has stored in an etcd.
void remove_job(const EtcdPlace& place, Deadline deadline);

}  // namespace trireme::cluster::etcd
