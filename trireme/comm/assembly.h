// Assembly makes the group of each epoch of an elastic job out of the workers that are in it, in
// memory: the arena stays, whoever comes and goes, and a group is a few words in it.
//
//   Assembly assembly({.worker = 3, .store = &store});
//   membership.on_death([&](int worker, const auto& cause) { assembly.lose(worker, cause); });
//   Group group = assembly.group_of(membership.epoch(), {}, deadline);
//
// Of the first epoch, rank 0 makes the arena and the others open it, with a proof. Whoever comes
// later opens it from any member that has it; it lives as long as one of them. An epoch may end
// before all of it have met: where nobody is known to have the arena, the first one's counts in the
// next, and whoever has another one drops it.
//
// Memory:   what dead members held of a group is given back by forget().
// Hosts:    one, unless `is_spread`: then each host has an arena of its own, and TCP goes across,
//           with connections that are made anew for each epoch. Workers that share no memory where
//           they should are refused with Unsupported.
// Failure:  Deadline; PeerLost where a member dies meanwhile, or others have gone on to the next
//           epoch, whatever made them; Exhausted.
// Threads:  lose() from any; the rest from one.
// Lifetime: the store must outlive it.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/store.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/group.h"
#include "trireme/net/credentials.h"

namespace trireme::comm {

class Assembly {
 public:
  struct Options {
    int worker = 0;
    cluster::Store* store = nullptr;
    Duration operation_timeout = std::chrono::minutes(5);   // for operations that name none
    Arena::Options arena{.members = Arena::kMembersMax};    // where this worker makes it
    bool is_spread = false;                                 // workers may be on several hosts
    std::shared_ptr<const net::Credentials> credentials{};  // for connections across them
    std::string interface{};                                // the network's, by name; or: any
    std::string address{};   // where others reach this host; or: the interface's
    bool checksums = false;  // of what goes across
    Faults* faults = nullptr;
  };
  explicit Assembly(const Options& options);
  ~Assembly();
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  // `having`: the workers that said they have the arena. Where nobody has, rank 0 makes it.
  // REQUIRES: this worker is in the epoch.
  Group group_of(const cluster::membership::Epoch& epoch, const std::set<int>& having,
                 Deadline deadline);
  // Nobody has a group of an epoch before this one any more: gives back what dead members still
  // held of them. By one worker of each host.
  void forget(std::uint64_t epoch) noexcept;
  bool has_arena() const noexcept { return arena_ != nullptr; }

  // Ends every group that this worker is in.
  void lose(int worker, const std::string& cause);

 private:
  using Offers = std::map<int, std::string>;  // by worker: the key in the store of its proof

  void have_arena(const cluster::membership::Epoch& epoch, const std::set<int>& having,
                  Deadline deadline);
  std::shared_ptr<Backend> shared_backend(const cluster::membership::Epoch& epoch, int rank);
  std::shared_ptr<Backend> spread_backend(const cluster::membership::Epoch& epoch, int rank,
                                          Deadline deadline);
  void forget_meshes(std::uint64_t epoch) noexcept;
  void renew_engine(const cluster::membership::Epoch& epoch);
  void say_arena(const std::string& key, Deadline deadline);
  void await_arena(const cluster::membership::Epoch& epoch, const Offers& offers,
                   Deadline deadline);
  bool open_from(int worker, const std::string& key, std::map<int, TimePoint>& refused,
                 Deadline deadline);
  void replace_engine();
  void throw_if_lost(const cluster::membership::Epoch& epoch) const;
  void throw_if_over(const cluster::membership::Epoch& epoch);

  Options options_;
  std::shared_ptr<Arena> arena_;
  std::uint64_t forgotten_ = 0;     // epochs before it
  TimePoint looked_{};              // for the next epoch
  mutable std::mutex mutex_;        // guards what follows
  std::shared_ptr<Engine> engine_;  // of all epochs; where they are spread, of the present one
  std::vector<int> numbers_;        // by rank of the present epoch: workers; spread alone
  std::map<int, Error> lost_;
};

}  // namespace trireme::comm
