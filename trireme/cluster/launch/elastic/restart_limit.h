// RestartLimit decides whether an elastic job may start more workers after deaths. A pure state
// machine; the caller passes the time.
//
// Bounds:        `restarts_max` workers within `restart_window`; a restart of the job counts once.
//                There is also a crash loop limit: kQuickMax times in a row, a worker of the latest
//                start died within kQuickTime or did not join. A job with restarts_max = kUnbounded
//                has no such limit, because its workers are killed on purpose.
// Thread safety: one thread.

#pragma once

#include <chrono>
#include <deque>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

class RestartLimit {
 public:
  static constexpr Duration kQuickTime = std::chrono::seconds(5);
  static constexpr int kQuickMax = 3;
  static constexpr int kUnbounded = 1'000'000;

  explicit RestartLimit(const Elastic& elastic)
      : max_(elastic.restarts_max), window_(elastic.restart_window) {}

  struct Death {
    int worker = 0;
    int round = 0;         // in which decision to start workers it was started
    Duration age{};        // since its start
    bool is_late = false;  // it was killed because it did not join
  };
  void on_died(const Death& death);

  // Why no more workers may be started; empty: they may be.
  std::string crash_loop() const;
  // The same for `count` workers, which are started now if the answer is empty; `is_restart`: the
  // whole job is.
  std::string use(int count, bool is_restart, TimePoint now);

 private:
  int max_;
  Duration window_;
  std::deque<TimePoint> restarts_;
  int quick_round_ = -1;  // the last round of which a worker died quickly
  int quick_count_ = 0;   // for how many rounds in a row that happened
  std::string quick_text_;
};

// "5.0 s"
std::string seconds_of(Duration duration);

}  // namespace trireme::cluster::launch
