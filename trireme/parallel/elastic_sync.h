// ElasticSync is a synchronization strategy that survives its group: ranks fail, leave and join,
// and training continues with the same weights.
//
// A step completes on all ranks or on none (StepCommit). After a failure the caller
//
//   elastic.survive(group, places);          // of the live ranks; shards do not change yet
//   ... all ranks exchange commit().status(), and look for a step that was prepared
//   if (auto all = commit.recall(step)) ...  // completes that step with the result of prepare():
//     step.finish(*all);                     // this rank's shards, unless it has finished them,
//     elastic.finish_failed_ranks();         // and the shards of failed ranks
//   elastic.regroup(...);                    // divides the shards again; new ranks get the state
//   ... a step that was not prepared runs again
//
// Errors:        what Group throws; each call can be repeated with the next group.
// Thread safety: as GradientSync.

#pragma once

#include <vector>

#include "trireme/comm/group.h"

namespace trireme::parallel {

class ElasticSync {
 public:
  virtual ~ElasticSync() = default;

  // Whether gradients of finished micro-batches are kept for a step that runs again
  // (StepPlan::kept_micro_batches). The same on all ranks.
  virtual bool keeps_micro_batches() const = 0;

  // Gives up everything in flight; commit() is that of this group from here on. `places`: by rank
  // of the group, its place in the host's arena.
  virtual void survive(const comm::Group& group, std::vector<int> places) = 0;
  // Completes the updates of failed ranks on this host. REQUIRES: this rank has finished its own
  // part of the last step; others may not have.
  virtual void finish_failed_ranks() = 0;

  // Continues with the group of survive(), and is a collective of it. `is_new`: this rank has no
  // state yet, and gets it from another rank. REQUIRES: every rank is between two steps, or back at
  // the beginning of one.
  virtual void regroup(bool is_new) = 0;
};

}  // namespace trireme::parallel
