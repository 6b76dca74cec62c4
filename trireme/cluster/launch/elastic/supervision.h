// Supervision decides what happens after a worker of an elastic job ends: a replacement, a restart
// of the job, or the end of the job. A pure state machine; the caller passes the time.
//
// Exits:         a worker that reports that it leaves, or exits with 0 while more workers live than
//                are wanted, has left as requested. Any other exit with 0 means that the training
//                is done: no worker is replaced any more, and workers that still wait to join when
//                the last member has ended are killed. Every other end is a death.
// Settling:      deaths come in bursts, and the kernel reports them one by one. The decision is
//                made kSettleTime after the last one, so that simultaneous deaths are handled
//                together. A worker that trained and refused its input is not replaced before
//                kRefusalTime: the others usually meet the same reason within it.
// Restart:       if no worker that holds the training state is alive, the workers that wait to join
//                are killed, and the wanted number of workers starts from the newest checkpoint.
//                The known members may be out of date, so the caller reads them again first.
// Late:          a worker that has not joined within `join_max` of its start hangs in its program,
//                its data or a file system, where no other worker watches it: it is killed.
// Bounds:        see restart_limit.h.
// Refusal:       a worker that ends for a reason that a replacement would repeat (it refuses its
//                input, or its training diverged) ends the job if no worker trains yet. The job
//                also ends if all workers refused.
// Unreachable:   it is unknown whether a worker on a lost host is alive. It does not count as
//                alive, but the job does not restart as long as that worker may hold the training
//                state. Workers on an unreachable host are not replaced elsewhere: set_room() tells
//                how many workers there can be now.
// Thread safety: one thread.

#pragma once

#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/cluster/launch/elastic/known_members.h"
#include "trireme/cluster/launch/elastic/restart_limit.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

struct Decision {
  enum class Kind {
    Wait,     // nothing to do
    Start,    // start `count` workers that join the live ones
    Confirm,  // no known member is alive: read the members again, then call confirm_members()
    Clear,    // kill the live workers: there is no member whose state they could receive
    Kill,     // kill these `workers`, which did not join: `why`
    Restart,  // start `count` workers, with the arguments to resume
    End,      // the job cannot continue: `why`
  };
  Kind kind = Kind::Wait;
  int count = 0;
  std::string why{};
  std::set<int> workers{};
};

class Supervision {
 public:
  static constexpr Duration kSettleTime = std::chrono::milliseconds(20);
  static constexpr Duration kRefusalTime = std::chrono::seconds(1);

  Supervision(const Elastic& elastic, int wanted)
      : elastic_(elastic), wanted_(wanted), limit_(elastic) {}

  void on_started(int worker, TimePoint now) { alive_[worker] = {.started = now, .round = round_}; }
  // The worker exited with 0.
  void on_finished(int worker);
  // The worker reported that it leaves. If no worker remains, the job restarts, as after deaths.
  void on_left(int worker, TimePoint now);
  // The worker ended in any other way; `is_refusal`: a replacement would end the same way.
  void on_died(int worker, bool is_refusal, TimePoint now);
  // The worker's host was lost; later it is found alive, or is gone. Neither counts as a restart. A
  // worker that an earlier launcher had started may be found too.
  void on_unreachable(int worker);
  void on_found(int worker, TimePoint now);
  void on_gone(int worker, TimePoint now);
  // How many of the wanted workers there can be now; no bound if it was never called.
  void set_room(int count, TimePoint now);
  // The workers that hold the training state, as far as known; empty: unknown. They may become
  // known only after their deaths; the decision on these deaths is then made again.
  void set_members(const std::set<int>& members, TimePoint now);
  // The answer to Kind::Confirm: the members, read from the store after that decision.
  void confirm_members(const std::set<int>& members, TimePoint now);
  // The workers that had announced themselves in the store at `as_of`.
  void set_announced(const std::set<int>& workers, TimePoint as_of);
  // REQUIRES: 1 <= count <= elastic.most.
  void set_wanted(int count) { wanted_ = count; }

  // An earlier launcher had seen that the training is done.
  void set_done() { is_done_ = true; }

  // A caller that is told to start workers starts them, and reports each by on_started().
  Decision decide(TimePoint now);
  // When decide() may return something new if no other event happens.
  Deadline next() const { return Deadline::at(next_); }

  // Deaths that no decision has answered yet.
  bool has_undecided_deaths() const noexcept { return has_died_; }

  int wanted() const noexcept { return wanted_; }
  int alive() const noexcept { return static_cast<int>(alive_.size()); }
  // Workers on unreachable hosts, which may be alive.
  int unreachable() const noexcept { return static_cast<int>(unreachable_.size()); }
  // The training is done.
  bool is_done() const noexcept { return is_done_; }
  // No worker is alive and none will be started.
  bool is_over() const noexcept { return alive_.empty() && (is_done_ || is_ended_); }

 private:
  struct Worker {
    TimePoint started{};
    int round = 0;
    bool has_joined = false;  // as far as known; it stays true
    bool is_late = false;     // it was killed because it did not join
  };

  void forget(int worker);
  bool has_members() const;
  // How many workers there should be now.
  int target() const;
  Decision end(std::string why);
  Decision clear();
  void note_joined(const std::set<int>& workers);
  std::optional<Decision> kill_late();
  Decision start_missing();
  Decision answer_deaths(TimePoint now);
  Decision start(Decision::Kind kind, int count, TimePoint now);

  Elastic elastic_;
  int wanted_;
  int room_ = std::numeric_limits<int>::max();
  std::map<int, Worker> alive_;
  std::set<int> unreachable_;
  KnownMembers members_;
  std::optional<TimePoint> announced_at_;
  RestartLimit limit_;
  TimePoint next_ = TimePoint::max();
  int round_ = 0;              // counts decisions to start workers
  bool has_died_ = false;      // since the last decision
  bool only_refusals_ = true;  // all deaths since the last start of the job were refusals
  bool has_refused_ = false;   // a worker refused while no worker trained
  bool is_clearing_ = false;
  bool is_done_ = false;
  bool is_ended_ = false;
};

}  // namespace trireme::cluster::launch
