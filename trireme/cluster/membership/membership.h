// Membership is this process's part in a job: it joins, detects deaths, and moves from epoch to
// epoch with the workers that remain or have joined. A job of fixed size needs all its ranks and
// stays in its first epoch (see world.h).
//
//   Membership membership({.worker = 3, .first_size = 4, .store = &store});
//   membership.on_gone([&](const WorkerEnd& end) { ... abort the groups ... });
//   membership.join(deadline);
//   ... a step fails because a member died, or is_change_wanted() between two steps ...
//   const Next next = membership.next(report, {.takes_new = true}, deadline);
//
// Deaths:        members on this host are detected within a millisecond when they end, and after
//                heartbeat.timeout when they freeze; a frozen member is killed, and so is a member
//                that is stuck (see stall_ledger.h). Members on other hosts are detected at most a
//                quarter of a second after they end, and heartbeat.timeout after their host froze
//                or was disconnected. A member that left in an orderly way counts as gone too.
// Fixed size:    a frozen member on this host is not treated as gone, since nothing replaces it: a
//                debugger may have stopped it, and collectives have deadlines. Members on other
//                hosts are detected milliseconds after they end. A member that others took for dead
//                is told its own death, and must not continue.
// Certainty:     when next() returns, a former member on this host can write nothing any more: it
//                was killed and seen harmless, or it has written its farewell. A former member on
//                another host shares no memory with this one, and finds no epoch that contains it.
// Store:         only a change of epoch needs it. While it does not answer, next() waits.
// Errors:        Aborted from next() when the others continue without this worker, which then has
//                to leave and end; is_dismissed() tells whether that was requested. Deadline with
//                the workers that it waited for, after which next() may be called again. What the
//                store throws.
// Thread safety: join(), next(), epoch(), rank(), set_failure() and leave() from one thread;
//                the rest from any, but shares_memory_with() and wait_gone() not during join() and
//                next(). The on_gone() callbacks usually run on the life thread, one at a time;
//                they should be short, must not throw, and must not call on_gone() or leave().
// Lifetime:      the store must outlive it. The destructor calls leave().

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/fault.h"
#include "trireme/base/liveness.h"
#include "trireme/base/log.h"
#include "trireme/cluster/liveness/heartbeat.h"
#include "trireme/cluster/liveness/stall_ledger.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store/store.h"
#include "trireme/cluster/variables.h"

namespace trireme::cluster::membership {

inline constexpr FaultPoint kNextBegun{"membership.next"};
inline constexpr FaultPoint kEpochDecided{"membership.decided"};
inline constexpr FaultPoint kEpochAgreed{"membership.agreed"};

struct Gone {
  int worker = 0;
  std::string cause{};
  int pid = 0;
  bool is_dismissed = false;
};

struct Next {
  Epoch epoch{};
  std::map<int, Bytes> reports{};  // of every member that is not new, by worker; identical on all
                                   // members
  std::vector<Gone> gone{};        // workers that were members before, or were in an intermediate
                                   // epoch, and are not members now
};

struct NextOptions {
  // Admits waiting workers, and dismisses those that are no longer wanted. Set it only after a
  // barrier of all members: until each of them has returned from next(), a worker that the current
  // epoch left out may still write at its place, which a new worker may get.
  bool takes_new = false;
  // The new members of the current epoch now have the training state. The report of one member is
  // enough, so set it only after a barrier of all members.
  bool is_join_complete = true;
  // Called from time to time while waiting for other members, which may not know yet that a new
  // epoch is needed.
  std::function<void()> while_waiting{};
};

class Membership {
 public:
  struct Options {
    int worker = 0;
    // Of a job of fixed size: it replaces the three numbers below. Not set: the job is elastic.
    std::optional<int> size{};
    int first_size = 1;  // how many workers start together; at least `least`
    int least = 1;
    int most = kPlacesMax;
    std::string job_hash{};  // hash of what must be equal on all workers
    // An interval of zero means a fifth of the timeout; with a timeout of zero no heartbeats are
    // expected.
    HeartbeatConfig heartbeat{.interval = {}, .timeout = std::chrono::seconds(5)};
    std::shared_ptr<Liveness> liveness{};  // of this worker; null: no worker is ever stuck
    StallConfig stall{};
    // This worker itself is stuck (see stall_ledger.h). Called on the life thread; should end the
    // process.
    std::function<void(const std::string& why)> on_stuck = [](const std::string&) {};
    Role role = Role::Worker;
    Store* store = nullptr;  // this worker's own session of the job's store; see role_store.h
    Lookup lookup = process_environment;
    Log log{};
    Faults* faults = nullptr;
    // The store was unreachable for longer than its patience while there are members on other
    // hosts, which may have continued without this worker. Called on a separate thread; a worker of
    // an elastic job should end.
    std::function<void(const std::string& cause)> on_lease_over = [](const std::string&) {};
  };

  // Creates the life page; does not access the store yet.
  explicit Membership(Options options);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Compares build and job with those of the first worker (Mismatch reports both), announces this
  // worker and waits until an epoch contains it. See admission.h for when the first epoch is
  // created. Error messages give the time since `begin`.
  const Epoch& join(Deadline deadline, TimePoint begin);
  const Epoch& join(Deadline deadline) { return join(deadline, steady_clock().now()); }
  // REQUIRES, here and below: join() has succeeded.
  const Epoch& epoch() const noexcept;
  int rank() const noexcept;

  // Calls back once for each member of the current epoch that is gone, including those already
  // known to be gone.
  void on_gone(std::function<void(const WorkerEnd& end)> callback);
  // Proven, not inferred. Always true for the worker itself.
  bool shares_memory_with(int worker) const;
  // See Life; throws NotFound for a worker that shares no memory with this one.
  bool wait_gone(int worker, Deadline deadline) const;

  // Treats a worker as dead permanently, even if it is alive; for callers that test the recovery.
  void doubt(int worker, const std::string& cause);

  // A collective of this worker reached its deadline: kills the members that block it without
  // progress, in any phase, or else the named member, and counts them as dead. Returns the first of
  // them; nothing if none is known. Call it from the waiting thread.
  std::optional<int> evict_late(std::optional<int> named, const std::string& cause);

  // Cheap enough to call in every step.
  bool is_change_wanted() const noexcept;
  // Waits until is_change_wanted(), or until a member of this epoch is gone. Throws Deadline.
  void wait_for_more(Deadline deadline);

  // Agrees with the other members on the next epoch, and exchanges reports with them.
  Next next(ByteView report, const NextOptions& options, Deadline deadline);

  // Whether next() ended with Aborted because fewer workers are wanted, which is an orderly end.
  bool is_dismissed() const noexcept;

  // This worker failed and will leave: its peers on this host report `why` as the cause.
  void set_failure(std::string why);
  // Tells all workers that this one ends on purpose. Idempotent; no other function may be called
  // afterwards.
  void leave() noexcept;

 private:
  class Part;
  std::unique_ptr<Part> part_;
};

}  // namespace trireme::cluster::membership
