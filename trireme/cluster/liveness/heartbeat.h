// Heartbeats, for peers that cannot be watched through shared memory: each rank increments a
// counter in the store, and a few other ranks check that it does.
//
// HeartbeatLedger does the accounting: which rank was silent for how long. Only the time during
// which this rank was checking counts as silence: a watcher that was itself frozen, or whose store
// was slow, reports no rank when it wakes up.
//
// heartbeat_duties() distributes the checks, so that a job of N ranks makes O(N) requests per
// second and not N squared: every rank is checked by the next two live ranks on other hosts.
//
// Pure: no clock and no store; the caller passes the time.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cluster/roster.h"

namespace trireme::cluster {

struct HeartbeatConfig {
  std::chrono::milliseconds interval{1000};
  std::chrono::milliseconds timeout{5000};
};

class HeartbeatLedger {
 public:
  struct Late {
    int rank = 0;
    Duration silence{};
  };

  // REQUIRES: 0 < interval < timeout.
  explicit HeartbeatLedger(const HeartbeatConfig& config);

  // Records what was just read for this rank: its count, or nothing if it has not started. The
  // first call for a rank starts its accounting.
  void look(int rank, std::optional<std::uint64_t> count, TimePoint now);
  void forget(int rank) { accounts_.erase(rank); }
  // The ranks that were silent for at least the timeout, in ascending order.
  std::vector<Late> late() const;

 private:
  struct Account {
    std::optional<std::uint64_t> count;
    TimePoint looked;
    Duration silence{};
  };

  HeartbeatConfig config_;
  std::map<int, Account> accounts_;
};

// The ranks that `self` has to check. `is_proven(rank)`: the rank is watched through shared memory;
// `is_over(rank)`: it died or left.
std::vector<int> heartbeat_duties(const Roster& roster, int self,
                                  const std::function<bool(int)>& is_proven,
                                  const std::function<bool(int)>& is_over);

}  // namespace trireme::cluster
