// Heartbeats, for peers that no shared memory tells about: each rank counts up in the store, and
// a few others look whether it does.
//
// HeartbeatLedger is the accounting: who was silent for how long. Only time during which somebody
// looked counts as silence: a watcher that was itself frozen, or whose store was slow, wakes up
// with clean books and accuses nobody.
//
// heartbeat_duties() deals out the looking, so that a job of N ranks makes O(N) requests a second
// and not N squared: every rank is looked at by the next two living ranks on other hosts.
//
// Pure: no clock, no store; time is what the caller says it is.

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

  // What was just read of this rank: its count, or nothing if it has not begun. The first look
  // opens its account.
  void look(int rank, std::optional<std::uint64_t> count, TimePoint now);
  void forget(int rank) { accounts_.erase(rank); }
  // Those silent for as long as the timeout, in the order of ranks.
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

// Whom `self` has to look at. `is_proven(rank)`: shared memory tells about it; `is_over(rank)`:
// it died or left.
std::vector<int> heartbeat_duties(const Roster& roster, int self,
                                  const std::function<bool(int)>& is_proven,
                                  const std::function<bool(int)>& is_over);

}  // namespace trireme::cluster
