// Assembly builds the group of each epoch of an elastic job from the workers of that epoch. The
// arena stays in memory while workers join and leave; a group needs only a few words in it.
//
//   Assembly assembly({.worker = 3, .store = &store});
//   membership.on_gone([&](const auto& end) { assembly.lose(end.worker, end.cause); });
//   Group group = assembly.group_of(membership.epoch(), {}, deadline);
//
// In the first epoch rank 0 creates the arena and the other workers open it with a proof. A worker
// that joins later opens it from any member that has it. The arena exists as long as one worker has
// it open. An epoch may end before all of its workers have connected. If no worker is then known to
// have the arena, the next epoch uses the arena of its first worker, and a worker with another
// arena drops it.
//
// Memory:        forget() frees the memory of a group that dead members still held.
// Hosts:         one host, unless `is_spread` is set. With `is_spread` each host has its own arena
//                and hosts communicate over TCP, with new connections for each epoch. Workers that
//                should share memory but do not are rejected with Unsupported.
// Errors:        Deadline; Exhausted; PeerLost if a member dies during the call, or if other
//                workers have continued with the next epoch for any reason. An operation that
//                reaches its deadline fails with PeerLost if Options::on_late returns a lost
//                worker.
// Thread safety: lose() from any thread; everything else from one thread.
// Lifetime:      the store must outlive the Assembly.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/base/liveness.h"
#include "trireme/base/log.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/store/store.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/group.h"
#include "trireme/net/auth/credentials.h"

namespace trireme::comm {

class Assembly {
 public:
  struct Options {
    int worker = 0;
    cluster::Store* store = nullptr;
    Duration operation_timeout = Timeouts::kCollective;  // for operations without their own timeout
    Arena::Options arena{.members = Arena::kMembersMax};    // if this worker creates the arena
    bool is_spread = false;                                 // workers may be on several hosts
    std::shared_ptr<const net::Credentials> credentials{};  // for connections between hosts
    std::string address{};   // address of this host for other hosts; empty: any but loopback
    bool checksums = false;  // of data sent between hosts
    Log log{};               // reports rejected connections
    Faults* faults = nullptr;
    std::shared_ptr<Liveness> liveness{};  // notified of waits; may be null
    // Called when a collective reaches its deadline. `named` is a worker that did not arrive, if
    // one is known. Returns the worker that is lost because of it, if any; the collective then
    // fails with PeerLost of that worker.
    // Lifetime: must outlive the Assembly. See Engine for what it must not do.
    std::function<std::optional<int>(std::optional<int> named, const std::string& cause)> on_late{};
  };
  explicit Assembly(const Options& options);
  ~Assembly();
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  // `having` lists the workers that reported that they have the arena. If it lists no
  // worker of a host, the first rank of that host creates or provides the arena. REQUIRES: this
  // worker is a member of the epoch.
  Group group_of(const cluster::membership::Epoch& epoch, const std::set<int>& having,
                 Deadline deadline);
  // Every worker calls this when no worker has a group of an earlier epoch any more. Frees memory
  // that dead members still held in those groups, and ends the quarantines of those epochs.
  void forget(std::uint64_t epoch) noexcept;
  bool has_arena() const noexcept { return arena_ != nullptr; }

  // Ends every group that this worker is in.
  void lose(int worker, const std::string& cause);

 private:
  using Offers = std::map<int, std::string>;  // by worker: the store key of its proof

  void have_arena(const cluster::membership::Epoch& epoch, const std::set<int>& having,
                  Deadline deadline);
  std::shared_ptr<Backend> shared_backend(const cluster::membership::Epoch& epoch, int rank);
  std::shared_ptr<Backend> spread_backend(const cluster::membership::Epoch& epoch,
                                          const cluster::Roster& roster, int rank,
                                          Deadline deadline);
  void forget_meshes(std::uint64_t epoch) noexcept;
  void renew_engine(const cluster::membership::Epoch& epoch, int ranks_on_host);
  void say_arena(const std::string& key, Deadline deadline);
  void await_arena(const cluster::membership::Epoch& epoch, const Offers& offers,
                   Deadline deadline);
  bool open_from(int worker, const std::string& key, std::map<int, TimePoint>& refused,
                 Deadline deadline);
  std::shared_ptr<Engine> make_engine(int ranks_on_host, bool shares_fate) const;
  void replace_engine();
  void throw_if_lost(const cluster::membership::Epoch& epoch) const;
  void throw_if_over(const cluster::membership::Epoch& epoch);

  Options options_;
  std::shared_ptr<Arena> arena_;
  bool is_first_of_host_ = false;   // in the current epoch
  TimePoint looked_{};              // when the store was last checked for the next epoch
  mutable std::mutex mutex_;        // guards the members below
  std::vector<int> numbers_;        // by rank of the current epoch: worker; only if spread
  std::shared_ptr<Engine> engine_;  // of all epochs; if spread, of the current epoch
  std::map<int, Error> lost_;
};

}  // namespace trireme::comm
