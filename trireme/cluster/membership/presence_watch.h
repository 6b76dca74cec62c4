// PresenceWatch keeps one flag true: whether the members of an elastic job should change, because
// somebody waits to be taken in and there is room, or fewer are wanted than there are.
//
// It watches the store from a thread of its own, so that asking costs one load of an atomic. A
// store that is gone for a while is asked again and again; until it is back the flag stays as it
// was. The same thread does what can wait: it writes down the newest epoch for those who come, and
// erases reports that nobody will read any more.
//
// Where members are on other hosts, it also says in the store that this worker is well, and calls
// back for those of them who are gone (see far_watch.h). A store that stays gone is then a lease
// that has run out: the others may have gone on without this worker, which has to end.
//
// Threads:  any thread may call.
// Lifetime: the store must outlive it. The destructor ends the thread, at the latest when a call
//           of the store that it is in has come to its deadline of half a second.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/cluster/heartbeat.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/far_watch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store.h"

namespace trireme::cluster::membership {

class PresenceWatch {
 public:
  struct Options {
    Store* store = nullptr;
    int worker = 0;
    int most = 1;
    HeartbeatConfig heartbeat{};
    // From the watch's thread; short, and does not throw.
    std::function<void(int worker, const std::string& cause)> on_lost{};
    // Likewise; it may end the process.
    std::function<void(const std::string& cause)> on_lease_over{};
  };
  explicit PresenceWatch(Options options);
  ~PresenceWatch();
  PresenceWatch(const PresenceWatch&) = delete;
  PresenceWatch& operator=(const PresenceWatch&) = delete;

  // Who takes part now, and who is not to be taken in although the store may still show it.
  // `presence` is what was read, if it was: it counts as long as the watch has not shown
  // everything. `far`: the members on other hosts.
  void set_epoch(const Epoch& epoch, std::set<int> ignored, const std::set<int>& far,
                 const std::optional<Presence>& presence);
  // Those of an epoch that is on its way.
  void add_far(const std::set<int>& workers);

  bool is_change_wanted() const noexcept { return is_wanted_.load(std::memory_order_relaxed); }
  // True as soon as it is wanted, false when the deadline came first.
  bool wait_until_wanted(Deadline deadline);

  // Epoch `number` is complete on all members; reports from before `reports_from` are read. The
  // dead are erased where the store still shows them: some stores notice late, and whoever joins
  // meanwhile cannot know.
  void post_chores(std::uint64_t number, std::uint64_t reports_from, std::set<int> dead = {});
  // Ends the thread as soon as it looks up; any change it watches makes it do so.
  void stop() noexcept;

 private:
  struct Chores {
    std::uint64_t newest = 0;
    std::uint64_t reports_from = 0;
    std::set<int> dead;
  };

  void run() noexcept;
  void follow();
  void do_chores();
  void decide();  // with mutex_ held
  Duration look_period();
  void say_well();
  void tell_lost();
  std::optional<std::set<int>> recorded();
  bool is_lease_over();
  void miss_absent();  // with mutex_ held

  const Options options_;
  std::atomic<bool> is_wanted_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  Presence presence_;
  std::set<int> members_;
  std::set<int> ignored_;
  std::optional<Chores> chores_;
  FarWatch far_;
  bool is_shown_ = false;      // the watch has shown everything that is in the store
  bool is_listed_ = false;     // and that for the first time: who is absent is gone
  bool has_followed_ = false;  // the thread's own, as the next two
  TimePoint said_well_{};
  std::uint64_t beats_ = 0;
  std::thread thread_;
};

}  // namespace trireme::cluster::membership
