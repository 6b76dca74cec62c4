// Assembly makes the group of each epoch of an elastic job out of the workers that are in it, in
// memory: the arena stays, whoever comes and goes, and a group is a few words in it.
//
//   Assembly assembly({.worker = 3, .store = &store});
//   membership.on_death([&](int worker, const auto& cause) { assembly.lose(worker, cause); });
//   Group group = assembly.group_of(membership.epoch(), {}, deadline);
//
// Of the first epoch, rank 0 makes the arena and the others open it, with a proof. Whoever comes
// later opens it from any member that has it; it lives as long as one of them.
//
// Memory:   what dead members held of a group is given back by forget().
// Hosts:    one. Workers that share no memory are refused with Unsupported.
// Failure:  Deadline; PeerLost where a member dies meanwhile; Exhausted.
// Threads:  lose() from any; the rest from one.
// Lifetime: the store must outlive it.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "trireme/base/fault.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/store.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/group.h"

namespace trireme::comm {

class Assembly {
 public:
  struct Options {
    int worker = 0;
    cluster::Store* store = nullptr;
    Duration operation_timeout = std::chrono::minutes(5);  // for operations that name none
    Arena::Options arena{.members = Arena::kMembersMax};   // where this worker makes it
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
  // held of them. By one worker.
  void forget(std::uint64_t epoch) noexcept;
  bool has_arena() const noexcept { return arena_ != nullptr; }

  // Ends every group that this worker is in.
  void lose(int worker, const std::string& cause);

 private:
  void have_arena(const cluster::membership::Epoch& epoch, const std::set<int>& having,
                  Deadline deadline);
  bool open_from(int worker, Deadline deadline);
  void throw_if_lost(const cluster::membership::Epoch& epoch) const;

  Options options_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<Engine> engine_;
  std::uint64_t forgotten_ = 0;  // epochs before it
  mutable std::mutex mutex_;
  std::map<int, Error> lost_;  // guarded by mutex_
};

}  // namespace trireme::comm
