// StoreLink is the launcher's connection to an elastic job's store: it writes how many workers are
// wanted (key `wanted`) and reads the members of the newest epoch (keys `epoch/`), the announced
// workers (keys `worker/`) and the heartbeats of a worker that is alone (`well/`), on its own
// threads, since the launcher must never wait for the coordinator.
//
// Semantics:     only the last number counts; it is written as soon as the store can be reached.
//                Jobs whose workers do not agree on epochs have no members. The known members can
//                be older than those in the store; confirm_members() reads them again.
// Store:         the coordinator's, or the etcd that the user specified.
// Frozen:        a coordinator that has not answered for kSilenceMax is killed, so that the
//                launcher starts another one.
// Errors:        none are reported; it retries until it has succeeded or is destroyed.
// Thread safety: any thread may call.
// Lifetime:      the destructor ends the threads within a second, or a few seconds if etcd does not
//                answer.

#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/cluster/launch/elastic/lone_watch.h"
#include "trireme/cluster/store/etcd/place.h"

namespace trireme::cluster::launch {

// The workers that had announced themselves at a moment.
struct Announced {
  std::set<int> workers{};
  TimePoint as_of{};
};

class StoreLink {
 public:
  static constexpr Duration kSilenceMax = std::chrono::seconds(15);

  struct Options {
    std::filesystem::path folder;  // the job's
    // Learns the members of the newest known epoch, on a thread of the link.
    LoneWatch* lone_watch = nullptr;
    Duration silence_max = kSilenceMax;
    std::optional<etcd::EtcdPlace> etcd{};  // where the store is, if not at a coordinator
    std::string address{};                  // the coordinator's address, if not in the folder:
                                            // tcp://...
  };
  explicit StoreLink(Options options);
  ~StoreLink();
  StoreLink(const StoreLink&) = delete;
  StoreLink& operator=(const StoreLink&) = delete;

  void set_wanted(int workers);
  // The store is about to be emptied: the known epoch becomes invalid.
  void forget_members();
  // The workers of the newest known epoch.
  std::set<int> members() const;
  // As last read from the store, every few seconds; nothing before the first time.
  std::optional<Announced> announced() const;
  // Reads the newest epoch from the store as soon as the store can be reached; take_confirmed()
  // then returns its workers, once.
  void confirm_members();
  std::optional<std::set<int>> take_confirmed();
  // A worker that trains alone and has sent no heartbeat for the timeout, once.
  std::optional<int> take_silent();
  // An eventfd that is readable when members() has changed, announced() was read again, or
  // take_confirmed() or take_silent() has a value.
  int event() const;
  void clear_event() const;
  // The last wanted number was written.
  bool is_idle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster::launch
