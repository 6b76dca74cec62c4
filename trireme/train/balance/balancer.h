// Balancer keeps the ranks of a job equally busy. It measures this rank, compares all ranks every
// balance.every steps, assigns the micro-batches of the next steps to data-parallel replicas
// accordingly, and reports stragglers.
//
// If replicas differ between two synchronizations it assigns nothing, and compares ranks only at
// the end of rounds to report stragglers. It does nothing if ranks may run ahead of others
// (sync.slack, sync.overlap) or if balance.every is 0.
//
// Errors:        what Group throws; the assignment is then unchanged.
// Thread safety: one thread; every rank makes the same calls for the same steps.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trireme/cluster/launch/host/cgroup.h"
#include "trireme/train/balance/balance.h"
#include "trireme/train/balance/stragglers.h"
#include "trireme/train/job.h"
#include "trireme/train/report/reporter.h"

namespace trireme::train {

class Balancer {
 public:
  Balancer(Job& job, Reporter& reporter);

  // Called before and after every step.
  void begin_step() { watch_ = {}; }
  void end_step(const Outcome& outcome);
  // Compares the ranks, if it is time for that. Called between two steps.
  void look(std::int64_t step);
  // Called when the ranks have changed and all replicas have the same share.
  void restart();
  // By rank, as of the last restart(): the worker numbers of an elastic job, which messages use.
  const std::vector<int>& workers() const noexcept { return workers_; }

 private:
  Pace strain() const;
  std::vector<Pace> all_paces() const;
  std::vector<Pace> paces_of_replicas(std::span<const Pace> paces) const;
  void assign();
  void tell(const Stragglers::Slow& slow) const;

  Job& job_;
  Reporter& reporter_;
  const BalanceSettings config_;
  const cluster::launch::host::Cgroup cgroup_;
  bool is_on_ = false;
  bool can_reassign_ = true;
  std::int64_t every_ = 0;  // steps between two comparisons
  std::optional<Balance> balance_;
  Stragglers stragglers_;
  std::vector<int> workers_;
  Pace since_;   // of this rank, since the last comparison
  Pace before_;  // strain() at the last comparison
  Stopwatch watch_;
};

}  // namespace trireme::train
