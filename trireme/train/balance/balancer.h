// Balancer keeps the ranks of a job equally busy: it measures this rank, looks at all of them every
// so many steps, deals the next steps by what it saw, and names whoever stays slow.
//
// Where ranks agree less often than every step it deals nothing, looks at the ends of rounds and
// names all the same. Where they never wait for each other (none, gossip), or the recipe says 0
// looks, it does nothing.
//
// Failure: what the group throws; nothing is dealt then.
// Threads: one; every rank calls with the same steps.

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
  Balancer(Job& job, Reporter& reporter, bool is_elastic);

  // Around a step.
  void begin_step();
  void end_step(const Outcome& outcome);
  // Between two steps.
  void look(std::int64_t step);
  // The ranks are others, and were dealt the same each. `workers`: the numbers of an elastic job's
  // workers by rank, by which messages name them.
  void restart(std::vector<int> workers = {});

 private:
  Pace strain() const;
  std::vector<Pace> all_paces() const;
  void assign();
  void tell(const Stragglers::Slow& slow) const;

  Job& job_;
  Reporter& reporter_;
  const BalanceSettings config_;
  const bool is_elastic_;
  const cluster::launch::host::Cgroup cgroup_;
  bool is_on_ = false;
  bool can_reassign_ = true;
  std::int64_t every_ = 0;  // steps, between two looks
  std::optional<Balance> balance_;
  Stragglers stragglers_;
  std::vector<int> workers_;
  Pace since_;   // this rank's, since the last look
  Pace before_;  // strain at the last look
  Stopwatch watch_;
};

}  // namespace trireme::train
