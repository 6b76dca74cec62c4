// StallLedger decides which workers are stuck: a stuck worker still sends heartbeats, but this
// worker is waiting for it and it makes no progress.
//
// A worker stalls as long as it reports no progress and does not wait for others itself, while this
// worker makes no progress either. Only time in which this worker waits for others counts. So no
// worker stalls while all workers compute for long, and gaps in the observation do not count,
// whether this worker slept or a report came late.
//
// If more than half of the workers that this worker knows stall, this worker included in the count,
// they have a common cause (such as a storage system that pauses), and none of them is stuck; the
// timeout of the collective bounds that time.
//
// A worker is stuck once it has stalled for max(minimum, factor x the median step time of the
// others), unless it has declared a long phase (its first step, an evaluation, a checkpoint,
// sending its state to workers that joined). A long phase is bounded by the timeout of the
// collective in which the others wait.
//
// Pure: no clock and no thread; the caller passes the time.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/liveness.h"

namespace trireme::cluster {

struct StallConfig {
  Duration minimum{};  // zero: no worker is ever stuck
  double factor = 10;
};

class StallLedger {
 public:
  // `interval` is the usual time between two observations; longer gaps count as twice that.
  StallLedger(const StallConfig& config, Duration interval)
      : config_(config), interval_(interval) {}

  // Takes the current reports of this worker and of another worker. Returns why the other worker is
  // stuck, if it is; the same worker is returned again only after it has stalled for as long once
  // more.
  std::optional<std::string> look(int worker, const Liveness::Report& report,
                                  const Liveness::Report& self, TimePoint now);
  void forget(int worker) { accounts_.erase(worker); }
  // How long the worker has stalled, in any phase.
  Duration stalled(int worker) const;

 private:
  struct Account {
    Liveness::Report report{};
    Liveness::Report self{};
    TimePoint looked{};
    Duration stalled{};
  };

  bool is_common(Duration limit) const;
  Duration limit_of(int worker, const Liveness::Report& self) const;

  StallConfig config_;
  Duration interval_;
  std::map<int, Account> accounts_;
};

}  // namespace trireme::cluster
