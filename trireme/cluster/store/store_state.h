// StoreState is a store's server as a pure state machine: requests of sessions go in, replies to
// sessions come out, some of them later. LocalStore, StoreService, the simulation and
// the fuzzer all drive this class.
//
// Slots:  a request waits for its reply until the next request in its slot; then it is dropped.
// Pure:   no clock, no sockets, no threads; the caller serializes and delivers.
// Bounds: StoreBounds; a watch whose reader lags behind its bound fails with Exhausted.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trireme/cluster/store/store_map.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

class StoreState {
 public:
  struct Delivery {
    StoreSessionId session = 0;
    std::uint16_t slot = 0;  // of the request
    StoreReply reply;
  };
  // Receives the changes that are about to be applied. If it throws an Error, the request is
  // refused.
  using Journal = std::function<void(std::span<const StoreMap::Change>)>;

  explicit StoreState(const StoreBounds& bounds = {}, Journal journal = {});

  // REQUIRES: an id that is not zero and was never open before.
  void open(StoreSessionId session);
  // Drops the session's pending waits and erases the keys that were bound to it; does nothing for a
  // session that is not open. Throws only what the journal throws.
  void end(StoreSessionId session);
  // Does nothing for a session that is not open: a late request must not revive it.
  void apply(StoreSessionId session, const StoreRequest& request);
  // Applies a change that an earlier server planned.
  void learn(const StoreMap::Change& change) { commit(change); }
  void advance(std::uint64_t revision) { map_.advance(revision); }

  std::vector<Delivery> take_deliveries() { return std::exchange(deliveries_, {}); }

  const StoreMap& map() const noexcept { return map_; }
  bool is_open(StoreSessionId session) const { return sessions_.contains(session); }
  std::size_t waiter_count() const noexcept;
  std::size_t watch_count() const noexcept { return watches_.size(); }

 private:
  struct Session {
    std::map<std::uint16_t, std::string> awaited;  // the key for which a slot's Wait waits
    std::set<std::uint64_t> watches;
  };
  struct WatchEntry {
    StoreSessionId session = 0;
    std::uint64_t name = 0;  // chosen by the client
    std::string prefix;
    std::deque<StoreItem> items;
    std::uint64_t first = 0;  // the index of items.front() among all changes of this watch
    bool has_lagged = false;
    std::optional<std::uint16_t> parked;  // the slot of a Next that waits
  };
  struct Waiter {
    StoreSessionId session = 0;
    std::uint16_t slot = 0;
  };

  void dispatch(StoreSessionId session, const StoreRequest& request);
  void wait(StoreSessionId session, const StoreRequest& request);
  void watch(StoreSessionId session, const StoreRequest& request);
  void next(StoreSessionId session, const StoreRequest& request);
  void unwatch(std::uint64_t id);
  void unwatch_named(StoreSessionId session, std::uint64_t name);
  void change(StoreSessionId session, const StoreRequest& request);
  void answer(StoreSessionId session, std::uint16_t slot, StoreReply reply);
  void answer_next(WatchEntry& watch, std::uint16_t slot);
  void release(StoreSessionId session, std::uint16_t slot);
  void commit(const StoreMap::Change& change);
  void wake_waiters(const StoreMap::Change& change);
  void feed_watches(const StoreMap::Change& change);

  StoreMap map_;
  Journal journal_;
  std::map<StoreSessionId, Session> sessions_;
  std::unordered_map<std::string, std::vector<Waiter>> waiters_;
  std::map<std::uint64_t, WatchEntry> watches_;
  std::unordered_map<std::string, std::set<std::uint64_t>> watches_of_prefix_;
  std::map<std::size_t, std::size_t> prefix_sizes_;  // how many watches have a prefix of this
                                                     // length
  std::uint64_t last_watch_ = 0;
  std::vector<Delivery> deliveries_;
};

}  // namespace trireme::cluster
