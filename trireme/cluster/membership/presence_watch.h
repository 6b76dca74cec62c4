// PresenceWatch watches the store from its own thread, for two purposes.
//
// It maintains one flag: whether the membership of an elastic job should change, because a worker
// waits to be admitted and there is room, or because fewer workers are wanted than there are
// members. Reading it costs one atomic load. If the store is gone for a while, the thread retries;
// until the store is back the flag keeps its value. The same thread does work that is not urgent:
// it stores the number of the newest epoch for workers that join, and erases reports that are no
// longer needed.
//
// If there are members on other hosts, or no other members, it also writes this worker's heartbeats
// to the store, where the launcher reads those of a worker that trains alone. It calls back for
// members on other hosts that are gone (see far_watch.h), and tells the others which deaths this
// worker has detected. If the store then stays gone, this worker's lease has expired: the others
// may have continued without it. A worker that members on other hosts found stuck may be unable to
// end itself: if an epoch leaves it out and it makes no progress, this thread reports that its
// lease has expired.
//
// Cost: the members of an elastic job, at most kPlacesMax, watch all heartbeats, with the progress
//       reports in them. In a job of fixed size each rank reads those of the few that it has to
//       check (see heartbeat_duties()), so that N ranks make O(N) requests per interval.
//
// Thread safety: any thread may call.
// Lifetime:      the store must outlive it. The destructor ends the thread, at the latest when the
//                thread's current call of the store reaches its deadline of half a second.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/liveness.h"
#include "trireme/cluster/liveness/heartbeat.h"
#include "trireme/cluster/liveness/stall_ledger.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/far_watch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster::membership {

class PresenceWatch {
 public:
  // A worker whose heartbeats this worker has to read.
  struct Duty {
    int worker = 0;
    bool is_beside = false;  // on the same host
  };
  struct Options {
    Store* store = nullptr;
    int worker = 0;
    int most = 1;
    HeartbeatConfig heartbeat{};
    std::shared_ptr<const Liveness> liveness{};  // of this worker
    std::shared_ptr<StallLedger> stalls{};       // needs the liveness; null: none is ever stuck
    // How long the record of a live worker may be missing; zero if the store keeps its sessions.
    Duration grace = FarWatch::kReturn;
    // The functions below run on the watch's thread; they must be short and must not throw.
    // Not set: the heartbeats of all workers are watched.
    std::function<std::vector<Duty>()> duties{};
    // The deaths that this worker has detected since the last call.
    std::function<std::vector<WorkerEnd>()> take_detected{};
    std::function<void(const WorkerEnd& end)> on_lost{};
    // It may end the process.
    std::function<void(const std::string& cause)> on_lease_over{};
  };
  explicit PresenceWatch(Options options);
  ~PresenceWatch();
  PresenceWatch(const PresenceWatch&) = delete;
  PresenceWatch& operator=(const PresenceWatch&) = delete;

  // Sets the current members, and the workers that must not be admitted although the store may
  // still show them. `presence` is what the caller read from the store, if it did; it is used until
  // the watch has reported all keys. `far`: the members on other hosts.
  void set_epoch(const Epoch& epoch, std::set<int> ignored, const std::set<int>& far,
                 const std::optional<Presence>& presence);
  // Adds the members on other hosts of an epoch that is not complete yet.
  void add_far(const std::set<int>& workers);

  bool is_change_wanted() const noexcept { return is_wanted_.load(std::memory_order_relaxed); }
  // True as soon as a change is wanted, false when the deadline came first.
  bool wait_until_wanted(Deadline deadline);

  // Epoch `number` is complete on all members, and reports from before `reports_from` have been
  // read. Records of the dead are erased if the store still shows them: some stores notice ended
  // sessions late, and a worker that joins meanwhile cannot know.
  void post_chores(std::uint64_t number, std::uint64_t reports_from, std::set<int> dead = {});
  // Ends the thread at its next wake-up; any change that it watches wakes it.
  void stop() noexcept;

 private:
  struct Chores {
    std::uint64_t newest = 0;
    std::uint64_t reports_from = 0;
    std::set<int> dead;
  };

  void run() noexcept;
  void follow();
  void follow(Watch& watch);
  void note_change(const StoreChange& change);
  void read_rest(Watch& watch) noexcept;
  void do_chores();
  void decide();               // with mutex_ held
  bool must_say_well() const;  // with mutex_ held
  Duration look_period();
  void beat();
  void say_well();
  void check_duties();
  void tell_others();
  void tell_lost();
  void tell_stuck(const StoreChange& change);
  std::optional<std::uint64_t> epoch_without_us();
  void end_if_left_out();
  std::optional<bool> has_record(int worker);
  bool is_lease_over();
  void miss_absent();  // with mutex_ held

  const Options options_;
  std::atomic<bool> is_wanted_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  Presence presence_;
  std::set<int> members_;
  std::set<int> ignored_;
  std::optional<Chores> chores_;
  FarWatch far_;
  std::uint64_t epoch_ = 0;
  bool is_shown_ = false;   // the watch has reported every key in the store
  bool is_listed_ = false;  // and for the first time, so that absent members are gone
  // Used only by the thread, like all members below: since when this worker is in no epoch any
  // more.
  struct LeftOut {
    std::uint64_t epoch = 0;
    TimePoint since{};
    std::uint64_t moves = 0;
  };
  std::optional<LeftOut> left_out_;
  TimePoint looked_for_record_{};
  bool has_followed_ = false;
  TimePoint looked_{};
  TimePoint beaten_{};
  std::uint64_t beats_ = 0;
  std::map<int, Bytes> heard_;  // the last heartbeat of each duty
  std::vector<WorkerEnd> detected_;
  std::set<int> erased_;  // records of dead workers; their numbers are never used again
  std::thread thread_;
};

}  // namespace trireme::cluster::membership
