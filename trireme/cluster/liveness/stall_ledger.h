// StallLedger decides which workers are stuck: a stuck worker still sends heartbeats, but this
// worker is waiting for it and it makes no progress. A worker has one ledger for all workers of its
// epoch, on whatever hosts they are.
//
// A worker stalls as long as it reports no progress and does not wait for others itself, while this
// worker makes no progress either. Only time in which this worker waits for others counts. So no
// worker stalls while all workers compute for long, and gaps in the observation do not count,
// whether this worker slept or a report came late.
//
// A worker is stuck once it has stalled for max(minimum, factor x the median step time of the
// others), unless it has declared a long phase (its first step, an evaluation, a checkpoint,
// sending its state to workers that joined). A long phase is bounded by the timeout of the
// collective in which the others wait.
//
// If more than half of the workers stall, this worker included in the count, they probably have a
// common cause that passes (such as a storage system that pauses): they are stuck only after
// kCommon times that limit.
//
// No worker waits for the only worker of a job, or when all workers hang. So each worker also looks
// at itself: it is stuck if it made no progress for max(step_max, factor x its own median step
// time) and waited for no other worker, or for phase_max in a long phase.
//
// Time:          no clock; the caller passes the time.
// Thread safety: any thread may call.

#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/liveness.h"

namespace trireme::cluster {

struct StallConfig {
  Duration minimum{};  // zero: no other worker is ever stuck
  double factor = 10;
  // For this worker itself; zero: it is never stuck.
  Duration step_max{};
  Duration phase_max{};
};

class StallLedger {
 public:
  static constexpr int kCommon = 3;

  // `interval` is the usual time between two observations; longer gaps count as twice that.
  StallLedger(const StallConfig& config, Duration interval)
      : config_(config), interval_(interval) {}

  // Takes the current reports of this worker and of another worker. Returns why the other worker is
  // stuck, if it is; the same worker is returned again only after it has stalled for as long once
  // more.
  std::optional<std::string> look(int worker, const Liveness::Report& report,
                                  const Liveness::Report& self, TimePoint now);
  // Takes the current report of this worker. Returns why this worker is stuck, if it is, with the
  // same rule for repetitions.
  std::optional<std::string> look_at_self(const Liveness::Report& self, TimePoint now);
  void forget(int worker);
  // How long the worker has stalled, in any phase.
  Duration stalled(int worker) const;

 private:
  struct Account {
    Liveness::Report report{};
    Liveness::Report self{};
    TimePoint looked{};
    Duration stalled{};
    Duration told{};  // of `stalled`, when it was last returned
  };

  // With mutex_ held.
  Duration limit_of(int worker, const Liveness::Report& self) const;
  bool is_common(Duration limit) const;
  Duration limit_of_self(const Liveness::Report& self) const;
  void extend(Account& account, const Account& before) const;
  static bool is_due(Account& account, Duration limit);

  const StallConfig config_;
  const Duration interval_;
  mutable std::mutex mutex_;
  std::map<int, Account> accounts_;
  std::optional<Account> own_;
};

}  // namespace trireme::cluster
