// ElasticSync is an agreement that outlives its group: ranks die, leave and come, and the weights
// go on.
//
// A step ends for all ranks or for none. reduce() ends with a barrier (prepare); if any rank passed
// it, all of them held their share of the step, and what is left to do can be done by those who
// live. After a death the caller
//
//   elastic.survive(group, places);          // of those who live; nothing is cut anew yet
//   ... all compare their standings (reports), and look for one that was prepared
//   if (auto all = elastic.recall(step)) ... // the step is finished with what was agreed on:
//     step.finish(*all);                     // own slices and those of the dead; or, where this
//     elastic.finish_failed_ranks();              // rank has finished its own, those of the dead
//     alone
//   elastic.regroup(...);                    // slices are cut anew, the new ones get the state
//   ... the step that was not prepared is run again
//
// Failure: what Group throws; each call can be made again with the next group.
// Threads: as GradientSync.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel {

// What all ranks added up when they prepared a step.
struct Prepared {
  std::int64_t step = -1;
  std::vector<double> figures{};

  friend bool operator==(const Prepared&, const Prepared&) = default;
};

// Where a rank is in the step that it began last.
struct StepStatus {
  enum class Phase : std::uint8_t { Open, Prepared, Finished };

  std::int64_t step = -1;
  Phase phase = Phase::Finished;
  // Of the last step that it passed prepare in, where nobody else can look that up.
  parallel::Prepared prepared{};

  friend bool operator==(const StepStatus&, const StepStatus&) = default;
};

class ElasticSync {
 public:
  virtual ~ElasticSync() = default;

  virtual StepStatus step_status() const = 0;
  // Whether gradients of finished slots stay for a step that is run again
  // (StepPlan::kept_micro_batches). The same on all ranks.
  virtual bool keeps_micro_batches() const = 0;

  // Drops what is in flight. `places` by rank of the group: seats in the arena.
  virtual void survive(const comm::Group& group, std::vector<int> places) = 0;
  // What reduce() gave to any rank of the step, living or dead; nothing where it gave nothing.
  // `told`: what those who live brought. What only the dead of a whole host knew is lost with their
  // updates. A collective of the group that survive() named; whoever asks for nothing has step -1.
  // REQUIRES: all who live have stopped.
  virtual std::optional<Gradients> recall(std::int64_t step, std::span<const Prepared> told) = 0;

  // REQUIRES: this rank has finished its part of the last step, and others may not have.
  virtual void finish_failed_ranks() = 0;

  // Everybody is between two steps, or back at the beginning of one. `is_new`: this rank has no
  // state yet, and gets it from another. A collective of the group that survive() named.
  virtual void regroup(bool is_new) = 0;
};

}  // namespace trireme::parallel
