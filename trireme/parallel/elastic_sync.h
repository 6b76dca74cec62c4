// ElasticSync is a synchronization strategy that survives its group: ranks fail, leave and join,
// and training continues with the same weights.
//
// A step completes on all ranks or on none. reduce() ends with a barrier (prepare): if any rank
// passed it, all ranks had their part of the step, and the live ranks can complete it. After a
// failure the caller
//
//   elastic.survive(group, places);          // of the live ranks; shards do not change yet
//   ... all ranks exchange step_status(), and look for a step that was prepared
//   if (auto all = elastic.recall(step)) ... // completes that step with the result of reduce():
//     step.finish(*all);                     // this rank's shards, unless it has finished them,
//     elastic.finish_failed_ranks();         // and the shards of failed ranks
//   elastic.regroup(...);                    // divides the shards again; new ranks get the state
//   ... a step that was not prepared runs again
//
// Errors:        what Group throws; each call can be repeated with the next group.
// Thread safety: as GradientSync.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel {

// The sums over all ranks when they prepared a step.
struct Prepared {
  std::int64_t step = -1;
  std::vector<double> figures{};

  friend bool operator==(const Prepared&, const Prepared&) = default;
};

// The phase of a rank in the step that it began last.
struct StepStatus {
  enum class Phase : std::uint8_t { Open, Prepared, Finished };

  std::int64_t step = -1;
  Phase phase = Phase::Finished;
  // Of the last step that this rank prepared, if other ranks cannot look it up in shared memory.
  parallel::Prepared prepared{};

  friend bool operator==(const StepStatus&, const StepStatus&) = default;
};

class ElasticSync {
 public:
  virtual ~ElasticSync() = default;

  virtual StepStatus step_status() const = 0;
  // Whether gradients of finished micro-batches are kept for a step that runs again
  // (StepPlan::kept_micro_batches). The same on all ranks.
  virtual bool keeps_micro_batches() const = 0;

  // Gives up everything in flight. `places`: by rank of the group, its place in the host's arena.
  virtual void survive(const comm::Group& group, std::vector<int> places) = 0;
  // The result of reduce() of the step on any rank, live or failed; nothing if no rank got one.
  // `told`: what the live ranks reported. If all ranks of a host failed, what only they knew is
  // lost, and so are their updates. A collective of the group of survive(); a rank that needs no
  // result passes step -1. REQUIRES: all live ranks have stopped.
  virtual std::optional<Gradients> recall(std::int64_t step, std::span<const Prepared> told) = 0;

  // Completes the updates of failed ranks on this host. REQUIRES: this rank has finished its own
  // part of the last step; others may not have.
  virtual void finish_failed_ranks() = 0;

  // Continues with the group of survive(), and is a collective of it. `is_new`: this rank has no
  // state yet, and gets it from another rank. REQUIRES: every rank is between two steps, or back at
  // the beginning of one.
  virtual void regroup(bool is_new) = 0;
};

}  // namespace trireme::parallel
