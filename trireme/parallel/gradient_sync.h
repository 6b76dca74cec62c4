// GradientSync is a synchronization strategy: how the data-parallel replicas of a job arrive at the
// same update from gradients that each of them computed.
//
// One step, as its caller writes it:
//
//   sync.begin_step(plan);                     // parameters are current from here on
//   for (each micro-batch of this replica) {
//     if (!sync.begin_micro_batch(index)) continue;
//     loss.backward();                         // gradients are taken as they are produced
//     sync.end_micro_batch();
//   }
//   sync.finish_reduction();                   // over all micro-batches of all replicas
//   CommitResult all = sync.commit().prepare({loss});
//   sync.update(how);                          // or drop()
//
// When prepare() returns, every rank holds its part of the step; nothing of the model's state has
// changed yet, unless `plan.early` allowed it.
//
// The other roles of a strategy are separate interfaces: passes() for forward and backward,
// commit() for what ranks decide together, model() for readers of the weights between steps,
// saved() for checkpoints (a strategy names these three in roles()), and ElasticSync, which a
// strategy implements if it survives the loss of ranks.
//
// Errors:        what Group throws. The step is then neither complete nor undone on this rank;
//                recovery decides.
// Thread safety: one thread, the one that runs backward.
// Lifetime:      the model must outlive its synchronization, whose destructor removes its hooks.

#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "trireme/parallel/common_model.h"
#include "trireme/parallel/pass_services.h"
#include "trireme/parallel/saved_state.h"
#include "trireme/parallel/step_commit.h"

namespace trireme::parallel {

struct Update {
  std::int64_t number = 1;   // of this update, from 1
  double learning_rate = 0;  // before a parameter's own factor
  double scale = 1;          // multiplied into the gradients: clipping, loss scaling
};

struct StepPlan {
  std::int64_t step = 0;     // of the job, from 0; dropped steps count, too
  bool is_repeated = false;  // a death interrupted the last attempt
  // Of a repeated step: the number of micro-batches of the last attempt. This attempt has the same
  // ones, or whole pieces of them, and keeps those whose gradients are there (begin_micro_batch()).
  // 0: nothing is kept. kOthersKeep: this rank keeps nothing, because its last attempt had another
  // assignment of micro-batches.
  int kept_micro_batches = 0;
  static constexpr int kOthersKeep = -1;
  int micro_batch_count = 1;             // of the global batch
  std::vector<int> micro_batches = {0};  // this replica's, ascending
  std::vector<int> owners = {0};         // by micro-batch: the data-parallel replica that runs it
  bool is_norm_wanted = false;
  bool is_checked = false;    // the commit reports whether the gradients are finite
  int left_out_max = 0;       // how many stragglers the step may be committed without
  double max_grad_value = 0;  // update() limits every element to this; 0: no limit
  // Set if nothing can veto the step: each parameter may then be updated while backward still
  // runs.
  std::optional<Update> early = std::nullopt;
};

// Thrown from the passes of a micro-batch if the step goes on without this replica: the caller runs
// no further pass, and nothing of this replica counts.
struct Late : std::exception {
  const char* what() const noexcept override { return "this step goes on without this rank"; }
};

class GradientSync {
 public:
  virtual ~GradientSync() = default;

  virtual void begin_step(const StepPlan& plan) = 0;
  // False: the gradients of this micro-batch are there already, from an earlier attempt of the
  // step; it has no passes, and no end.
  virtual bool begin_micro_batch(std::size_t index) = 0;
  virtual void end_micro_batch() = 0;
  // Waits until this rank has its part of the sums, and contributes to the commit.
  virtual void finish_reduction() = 0;
  virtual void update(const Update& how) = 0;
  // Discards the step's gradients.
  virtual void drop() = 0;

  virtual PassServices passes() { return {}; }
  struct Roles {
    StepCommit& commit;
    CommonModel& model;
    SavedState& saved;
  };
  virtual Roles roles() = 0;
  StepCommit& commit() { return roles().commit; }
  CommonModel& model() { return roles().model; }
  SavedState& saved() { return roles().saved; }
};

}  // namespace trireme::parallel
