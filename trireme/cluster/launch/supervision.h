// Supervision decides what follows the end of a worker of an elastic job: a replacement, a new
// beginning, or the end of the job. A pure state machine; the clock is an argument.
//
// Words:   a worker that says so, or exits with 0 while more than wanted live, has left as asked.
//          Any other exit with 0 says that the training is done: nobody is replaced any more, and
//          whoever still waits to join when the last member has ended is cleared away.
//          Every other end is a death.
// Settling: deaths come in bursts, and the kernel tells them one by one. What follows is decided
//          kSettleTime after the last, so that "all at once" is seen as that.
// Anew:    when no worker that holds the training's state lives, those that wait to join it are
//          cleared away and the wanted number starts from the newest checkpoint.
// Bounds:  `restarts_max` within `restart_window`; a new beginning counts once. And a crash loop:
//          kQuickMax times in a row somebody who was started last died within kQuickTime. A job
//          that allows kUnboundedRestarts has none: somebody kills its workers on purpose.
// Refusal: a worker that refuses its input (exit code 2) before anybody trains ends the job: the
//          next one would refuse it, too. So does a job all of whose workers refused.
// Adrift:  of a worker on a host that was lost nobody knows whether it lives. It is not counted,
// but
//          as long as it may hold the training's state nothing begins anew. What is on a host that
//          is out of reach is not replaced elsewhere: set_room() says how many there can be now.
// Threads: one.

#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

struct Decision {
  enum class Kind {
    Wait,       // nothing to do
    Start,      // `count` workers that join those who live
    Clear,      // kill those who live: there is nobody whom they could join
    StartAnew,  // `count` workers, with the arguments to resume
    End,        // the job cannot go on: `why`
  };
  Kind kind = Kind::Wait;
  int count = 0;
  std::string why{};
};

class Supervision {
 public:
  static constexpr Duration kSettleTime = std::chrono::milliseconds(20);
  static constexpr Duration kQuickTime = std::chrono::seconds(5);
  static constexpr int kQuickMax = 3;
  static constexpr int kUnboundedRestarts = 1'000'000;

  Supervision(const Elastic& elastic, int wanted) : elastic_(elastic), wanted_(wanted) {}

  void on_started(int worker, TimePoint now);
  // It exited with 0.
  void on_finished(int worker);
  // It left, and said so. Where nobody is left then the job begins anew, as after deaths.
  void on_left(int worker, TimePoint now);
  // It ended in any other way; `is_refusal`: with exit code 2.
  void on_died(int worker, bool is_refusal, TimePoint now);
  // Its host was lost; and then: it lives, or is gone. Neither counts as a restart.
  void on_adrift(int worker);
  void on_back(int worker, TimePoint now);
  void on_gone(int worker, TimePoint now);
  // So many of those who are wanted can be there now; no bound if it was never said.
  void set_room(int count, TimePoint now);
  // Those who hold the training's state, as far as anybody told; empty: nobody did.
  void set_members(std::set<int> members) { members_ = std::move(members); }
  // REQUIRES: 1 <= count <= elastic.most.
  void set_wanted(int count) { wanted_ = count; }

  // A launcher before us had seen that the training is done.
  void set_done() { is_done_ = true; }

  // Whoever is told to start workers does, and reports each by on_started().
  Decision decide(TimePoint now);
  // When decide() will say more than now, if nothing else happens.
  Deadline next() const { return Deadline::at(next_); }

  int wanted() const noexcept { return wanted_; }
  int alive() const noexcept { return static_cast<int>(alive_.size()); }
  // They may live, on hosts that are out of reach.
  int adrift() const noexcept { return static_cast<int>(adrift_.size()); }
  // The training is done.
  bool is_done() const noexcept { return is_done_; }
  // Nobody lives and nobody will be started.
  bool is_over() const noexcept { return alive_.empty() && (is_done_ || is_ended_); }

 private:
  struct Worker {
    TimePoint started{};
    int round = 0;
  };

  void forget(int worker);
  bool has_members() const;
  // How many there should be now.
  int target() const { return std::min({wanted_, elastic_.most, room_}); }
  Decision end(std::string why);
  Decision start(Decision::Kind kind, int count, TimePoint now);
  void note_quick(int worker, const Worker& who, TimePoint now);

  Elastic elastic_;
  int wanted_;
  int room_ = std::numeric_limits<int>::max();
  std::map<int, Worker> alive_;
  std::set<int> adrift_;
  std::set<int> members_;
  std::deque<TimePoint> restarts_;
  TimePoint next_ = TimePoint::max();
  int round_ = 0;         // counts decisions to start somebody
  int quick_round_ = -1;  // the last round of which somebody died quickly
  int quick_count_ = 0;   // how many rounds in a row that is true of
  std::string quick_text_;
  bool has_died_ = false;      // since the last decision
  bool only_refusals_ = true;  // so died all since the last beginning
  bool has_refused_ = false;   // somebody, while nobody trained
  bool is_clearing_ = false;
  bool is_done_ = false;
  bool is_ended_ = false;
};

}  // namespace trireme::cluster::launch
