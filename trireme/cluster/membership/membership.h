// Membership is this process's part in an elastic job: it joins, learns of deaths, and moves on
// from epoch to epoch with whoever is left or has come.
//
//   Membership membership({.worker = 3, .first_size = 4, .store = &store});
//   membership.on_death([&](int worker, const std::string& cause) { ... abort the groups ... });
//   membership.join(deadline);
//   ... a step fails because a member died, or is_change_wanted() between two steps ...
//   const Next next = membership.next(report, {.takes_new = true}, deadline);
//
// Deaths:   of members on this host: within a millisecond when they end, after heartbeat.timeout
//           when they freeze, in which case they are killed. Of members on other hosts: a quarter
//           of a second after they end, and heartbeat.timeout after their host froze or was cut
//           off. Who left in an orderly way counts as gone too.
// Certainty: when next() returns, whoever is no longer a member and was on this host can write
//           nothing any more: it was killed and seen harmless, or said farewell. One on another
//           host shares nothing with this one, and finds no epoch that it is in.
// Store:    only a change of epoch needs it. While it does not answer, next() waits.
// Failure:  Aborted from next() when the others go on without this worker, which then has to leave
//           and end; is_dismissed() says whether that was wanted. Deadline naming whom it waited
//           for, after which next() may be called again. What the store throws.
// Threads:  join(), next(), epoch(), rank() and leave() from one thread; the rest from any. The
//           callback of on_death() comes from the life thread mostly; it should be short, must not
//           throw, and must not call on_death() or leave().
// Lifetime: the store must outlive it. The destructor leaves.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/fault.h"
#include "trireme/base/log.h"
#include "trireme/cluster/heartbeat.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/store.h"
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
  std::map<int, Bytes> reports{};  // of every member that is not new, by worker; alike on all
  std::vector<Gone> gone{};        // who was in this or a later epoch before and is no longer
};

struct NextOptions {
  bool takes_new = false;  // also lets go of those who are no longer wanted
  // Whoever is new in the present epoch has the state now. One member that says so is enough, so
  // say it only after a barrier of all.
  bool is_join_complete = true;
  // Called now and then while others are awaited, who may not have heard that they should come.
  std::function<void()> while_waiting{};
};

class Membership {
 public:
  struct Options {
    int worker = 0;
    int first_size = 1;  // how many begin together; at least `least`
    int least = 1;
    int most = kPlacesMax;
    std::string job_hash{};                // of what must be equal on all workers
    std::vector<std::string> addresses{};  // where this worker listens
    // An interval of zero is a fifth of the timeout; a timeout of zero expects no heartbeats.
    HeartbeatConfig heartbeat{.interval = {}, .timeout = std::chrono::seconds(5)};
    Store* store = nullptr;  // this worker's own session
    Lookup lookup = process_environment;
    Log log{};
    Faults* faults = nullptr;
    // The store was out of reach for longer than its patience while members are on other hosts, who
    // may have gone on without this worker. From a thread of its own; should end the process.
    std::function<void(const std::string& cause)> on_lease_over = [](const std::string&) {};
  };

  // Makes the life page; asks the store nothing yet.
  explicit Membership(Options options);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Compares build and job with the first worker's (Mismatch names both), announces this worker
  // and waits until an epoch has it. See admission.h for when the first one is made.
  const Epoch& join(Deadline deadline);
  // REQUIRES, here and below: join() has succeeded.
  const Epoch& epoch() const noexcept;
  int rank() const noexcept;

  // Calls back for each member of the present epoch that is gone, once, also for those already
  // known. Replaces the callback before, which no longer runs when this returns.
  void on_death(std::function<void(int worker, const std::string& cause)> callback);

  // Takes a worker for dead for good, whatever it is: for those who want to see what follows.
  void doubt(int worker, const std::string& cause);

  // Cheap enough for every step.
  bool is_change_wanted() const noexcept;
  // Until that is so, or somebody of this epoch is gone. Throws Deadline.
  void wait_for_more(Deadline deadline);

  // Agrees with the other members on the next epoch, and exchanges reports with them.
  Next next(ByteView report, const NextOptions& options, Deadline deadline);

  // Whether next() ended with Aborted because fewer workers are wanted: an orderly end.
  bool is_dismissed() const noexcept;

  // Tells everybody that this worker ends on purpose. Idempotent; nothing else works afterwards.
  void leave() noexcept;

 private:
  class Part;
  std::unique_ptr<Part> part_;
};

}  // namespace trireme::cluster::membership
