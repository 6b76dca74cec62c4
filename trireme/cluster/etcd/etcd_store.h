// EtcdStore is a Store that lives in an etcd (3.4 or newer) which somebody else runs, so that a
// job's state outlives each of its processes and no process of the job has to serve it.
//
//   /trireme/<job>/keys/<key>              what callers know as <key>
//   /trireme/<job>/calls/<session>/<n>     markers, by which repeats are told (writer.h)
//
// Revisions: etcd's own; other jobs in the same etcd take numbers too, so they have gaps.
// Sessions: a lease of Session::kLeaseTime, kept alive by a thread, revoked by the destructor. The
//          keys of a process that died are there for that long; see session.h for one that froze.
// Once:    set, add, compare_and_set and erase are made exactly once however often their answers
//          are lost (writer.h). Where a call throws Deadline or PeerLost nobody knows.
// Waiting: a wait of over kPollMax has a stream of its own; a shorter one asks again and again. It
//          asks at least once, for which it takes up to kLookTime beyond its deadline.
// Failure: while nobody answers a call waits until its deadline, or until nobody has answered for
//          `patience`: PeerLost. Exhausted for what etcd does not take: a value of over 1.5 MiB,
//          unless it was started with a larger --max-request-bytes, a list of over 4 MiB, or
//          anything once its disk quota is used up. Unauthenticated where it asks for a password,
//          which this cannot give.
// Left over: keys with Lifetime::Job stay until somebody removes them: remove_job().
// Lifetime: its watches must not outlive it.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/etcd/client.h"
#include "trireme/cluster/etcd/place.h"
#include "trireme/cluster/etcd/session.h"
#include "trireme/cluster/store.h"

namespace trireme::cluster::etcd {

class EtcdStore final : public Store {
 public:
  static constexpr Duration kPollMax = std::chrono::milliseconds(150);
  static constexpr Duration kLookTime = std::chrono::milliseconds(50);

  struct Options {
    Place place;  // with a job
    Duration patience = std::chrono::seconds(60);
  };

  // Makes the session; keeps trying while nobody answers, until the deadline.
  EtcdStore(const Options& options, Deadline deadline);

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

  // The session's lease, for whoever looks into etcd.
  std::uint64_t lease() const { return session_.lease(); }

 private:
  struct Found {
    std::optional<Item> item;
    std::uint64_t revision = 0;
  };

  std::string full(std::string_view key) const;
  Found find(std::string_view key, Deadline deadline);

  const std::string root_;  // of the keys
  Client client_;
  Session session_;
};

// Erases all that a job has in an etcd.
void remove_job(const Place& place, Deadline deadline);

}  // namespace trireme::cluster::etcd
