// Step runs one training step: it reads batches, runs forward and backward, synchronizes gradients
// and updates the weights. The code is the same for every synchronization strategy, for one rank or
// many, for replicas or shards.
//
//   StepWork   which samples this replica runs
//   Executor   forward and backward of its micro-batches, in the order of a PassSchedule
//
// Errors:        what loader, model and gradient synchronization throw. A result that is not finite
//                is not an error here: the outcome reports it, and the weights do not change. With
//                NonFinite::Stop only the loss is checked. A gradient that is not finite although
//                the loss is finite reaches the weights; Trainer checks these before saving.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/data/loader.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/model.h"
#include "trireme/optim/loss_scale.h"
#include "trireme/optim/schedule/schedule.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/train/executor.h"
#include "trireme/train/recipe/config.h"
#include "trireme/train/report/step_times.h"
#include "trireme/train/step_work.h"

namespace trireme::train {

// Errors of a regression's predictions: means over the global batch and all targets.
struct PredictionErrors {
  double squared = 0;       // in the targets' original units
  double absolute = 0;      // likewise
  double standardized = 0;  // squared, over the variance of a target in the training data
};

struct Outcome {
  double loss = 0;                           // mean over the global batch
  std::optional<PredictionErrors> errors{};  // of a regression
  double norm = 0;                           // of the gradient, where it was clipped
  double learning_rate = 0;
  std::int64_t samples = 0;       // of the global batch that were used
  std::int64_t own_samples = 0;   // of these, the samples that this rank's replica ran
  std::int64_t skipped = 0;       // of the global batch that could not be read
  bool is_empty = false;          // all samples were skipped, and nothing was updated
  bool is_finite = true;          // false: nothing was updated
  bool is_stop_wanted = false;    // some rank was asked to stop: all ranks stop after this step
  bool is_change_wanted = false;  // some rank knows of workers that wait to join or have to leave
  bool is_repeated = false;       // after a failure: `times` omits the work kept from the first try
  std::vector<int> left_out{};    // replicas that the step excluded because they were late
  parallel::Traffic traffic{};    // of this rank's gradients, where a codec made them smaller
  StepTimes times{};
};

inline constexpr FaultPoint kReduce{"step.reduce"};  // this rank has run all its micro-batches

// Describes the step to run.
struct Turn {
  std::int64_t step = 0;     // of the job, from 0
  std::int64_t updates = 0;  // made before this step; fewer than steps if some were dropped
  bool is_stop_wanted = false;
  bool is_change_wanted = false;
  // The step may exclude late replicas, if the job allows it. False in the last step, because no
  // later step could run their samples.
  bool can_leave_out = true;
  bool is_repeated = false;  // a rank died during the last attempt of this step
  // Of a repeated step: the assignment whose gradients are reused; 0: none are.
  std::uint64_t kept_assignment = 0;
};

class Step {
 public:
  struct Parts {
    std::shared_ptr<model::Model> model;
    std::shared_ptr<const model::Loss> loss;
    std::shared_ptr<data::Loader> loader;
    std::shared_ptr<parallel::GradientSync> gradient_sync;
    TorchDevice device{};                                      // of the model
    std::shared_ptr<parallel::pipeline::Pipeline> pipeline{};  // of the model's stages, or null
    optim::Schedule schedule{1e-3};
    double lr_factor = 1;  // multiplies the schedule's learning rate; reduced on plateaus
    double max_grad_norm = 0;
    double max_grad_value = 0;
    TrainConfig config{};
    // By micro-batch: the data-parallel replica that runs it.
    std::vector<int> micro_batch_owners = {0};
    int left_out_max = 0;  // number of late replicas that a step may exclude
    // Whether this rank contributes the loss, the reported sums and the terms of its replica: one
    // of the replica's ranks does, which has its last stage.
    bool has_loss = true;
    Faults* faults = nullptr;
  };
  explicit Step(Parts parts);

  Outcome run(const Turn& turn);
  Outcome run(std::int64_t updates, bool is_stop_wanted = false) {
    return run({.step = updates, .updates = updates, .is_stop_wanted = is_stop_wanted});
  }
  // Finishes a step whose commit was interrupted on this rank, with the result that other ranks
  // received.
  Outcome finish(const parallel::CommitResult& all);

  // A hash of the current micro-batches: which samples each one has.
  std::uint64_t assignment() const;
  StepWork& work() noexcept { return work_; }
  Executor& executor() noexcept { return executor_; }

  optim::LossScale& loss_scale() noexcept { return loss_scale_; }
  Parts& parts() noexcept { return parts_; }

 private:
  // Which micro-batches an attempt of a step has.
  struct Attempt {
    std::int64_t step = -1;
    int micro_batches = 1;  // over all replicas
    std::uint64_t assignment = 0;
  };

  void begin(const Turn& turn);
  int begin_attempt();
  parallel::StepPlan plan(const data::StepBatches& work, int kept_micro_batches) const;
  bool can_leave_out() const;
  bool depends_on_all_gradients(const parallel::StepPlan& plan) const;
  parallel::Contribution contribution(const PassSums& sums, double terms) const;
  double own_terms(const data::StepBatches& work) const;
  double terms_of(const data::StepBatches& work, double own);
  void note(const parallel::CommitResult& all);
  void note_errors(const parallel::ReportedSums& sums);
  bool is_scaled() const noexcept { return parts_.config.precision == Precision::Float16; }

  Parts parts_;
  optim::LossScale loss_scale_;
  StepWork work_;
  Executor executor_;
  Turn turn_;
  Attempt attempt_;
  StepTimer timer_;
  Outcome outcome_;  // of the current step
};

}  // namespace trireme::train
