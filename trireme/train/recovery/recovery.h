// Recovery continues an elastic job after workers failed, joined or left. The live workers agree on
// the members of the next epoch, the interrupted step is finished or run again on all of them, and
// all members have the same state when it returns.
//
// Nothing is read from disk, and only failed processes are started again.
//
//   forward  some rank had prepared the step, so the gradients of every rank were summed. The
//            survivors make the update, including the part of the failed rank.
//   back     no rank had prepared it, so the step is run again. Gradients of finished micro-batches
//            are reused if possible (see ElasticSync::keeps_micro_batches()), and the survivors
//            share the micro-batches of the failed rank.
//
// Errors:        Aborted if this worker has to leave (see ElasticWorld). Errors other than the loss
//                of a worker are passed on.
// Thread safety: one thread.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/train/job.h"
#include "trireme/train/recovery/elastic_world.h"
#include "trireme/train/recovery/job_state.h"

namespace trireme::train {

class Recovery {
 public:
  struct Options {
    ElasticWorld* world = nullptr;
    Job* job = nullptr;
    const JobState* state = nullptr;              // of this rank
    std::function<void(const Outcome&)> advance;  // an interrupted step was finished
    std::function<void(const JobState&)> adopt;   // replaces the state by the common one
    // Lets other users of the group, such as checkpoints, switch to the new group. A collective.
    std::function<void()> regroup;
  };
  explicit Recovery(Options options) : options_(std::move(options)) {}

  // Describes a recovery, for reports.
  struct Incident {
    std::vector<cluster::membership::Gone> gone;
    std::string how;  // "rolled forward", "run again", "between two steps"
    double seconds = 0;
    int workers = 0;            // now
    std::vector<int> joined{};  // their numbers
    int micro_batches = 0;      // of the interrupted step
    int redone = 0;  // the micro-batches that are run again; an upper bound after several failures

    void count(const NextStep& all);
  };

  // Called by every member of the epoch in which this worker joined.
  Incident begin();
  // Called after a member was lost.
  Incident survive();
  // Called between two steps: admits workers that wait, and dismisses workers that must leave.
  Incident change();

  // Whether the other workers can continue after this error.
  static bool is_loss(const Error& error) { return error.code() == ErrorCode::PeerLost; }

 private:
  Incident turn_over(bool takes_new, bool is_first);
  ElasticWorld::Turnover go_on(bool takes_new);
  void take_group();
  std::string resolve(const ElasticWorld::Turnover& change);
  JobState share_job_state(bool is_back);
  void reassign(JobState& mine) const;
  void count_redone(NextStep& next) const;
  parallel::ElasticSync& elastic() const;
  parallel::StepCommit& commit() const;

  Options options_;
  std::vector<int> assigned_to_;   // by rank: its worker when micro-batches were last assigned
  bool is_join_complete_ = false;  // the new workers of this epoch have the state
};

}  // namespace trireme::train
