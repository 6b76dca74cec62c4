// StoreLink is the launcher's line to an elastic job's store: it says how many workers are wanted
// (key `wanted`) and learns who the members of the newest epoch are (keys `epoch/`), on threads of
// its own, since the launcher must never wait for the coordinator.
//
// Meaning:  only the last number counts; it is written as soon as the store can be reached. Jobs
//           whose workers agree on no epochs have no members.
// Where:    with the coordinator, or in the etcd that the user named.
// Frozen:   a coordinator that has not answered for kSilenceMax is killed, so that the launcher
//           starts another.
// Failure:  none is told: it tries until it has succeeded or is destroyed.
// Threads:  any thread may call.
// Lifetime: the destructor ends the thread, within a second, or a few where etcd
//           does not answer.

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/cluster/etcd/place.h"
#include "trireme/cluster/membership/epoch.h"

namespace trireme::cluster::launch {

class StoreLink {
 public:
  static constexpr Duration kSilenceMax = std::chrono::seconds(15);

  struct Options {
    std::filesystem::path folder;  // the job's
    // Called on a thread of the link, for each that is newer than those before.
    std::function<void(const membership::Epoch&)> on_epoch{};
    Duration silence_max = kSilenceMax;
    std::optional<etcd::Place> etcd{};  // where the store is, if not with a coordinator
    std::string address{};              // where the coordinator is, if not in the folder: tcp://...
  };
  explicit StoreLink(Options options);
  ~StoreLink();
  StoreLink(const StoreLink&) = delete;
  StoreLink& operator=(const StoreLink&) = delete;

  void set_wanted(int workers);
  // The store is about to be emptied: what is known of epochs is no longer true.
  void forget_members();
  // The workers of the newest epoch that is known.
  std::set<int> members() const;
  // The number said last was written down.
  bool is_idle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster::launch
