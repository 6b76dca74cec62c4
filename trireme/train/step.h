// Step runs one training step: it reads batches, runs forward and backward, synchronizes gradients
// and updates the weights. The code is the same for every synchronization strategy, for one rank or
// many, for replicas or shards.
//
// The loss of a micro-batch is its sum divided by the number of terms in the whole global batch.
// The gradients of all micro-batches therefore add up to the gradient of the mean, however unevenly
// micro-batches are assigned to ranks.
//
// Errors:        what loader, model and gradient synchronization throw. A result that is not finite
//                is not an error here: the outcome reports it, and the weights do not change. With
//                NonFinite::Stop only the loss is checked. A gradient that is not finite although
//                the loss is finite reaches the weights; Trainer checks these before saving.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/data/loader.h"
#include "trireme/data/order/returned.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/model.h"
#include "trireme/optim/loss_scale.h"
#include "trireme/optim/schedule/schedule.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/train/recipe/config.h"
#include "trireme/train/report/stopwatch.h"

namespace trireme::train {

// Where a step's time went, in seconds. The parts add up to the duration of the step.
struct StepTimes {
  double data = 0;  // waiting for batches
  double forward = 0;
  double backward = 0;
  double wait = 0;  // for other ranks
  double update = 0;

  double total() const noexcept { return data + forward + backward + wait + update; }
  StepTimes& operator+=(const StepTimes& other) noexcept {
    data += other.data;
    forward += other.forward;
    backward += other.backward;
    wait += other.wait;
    update += other.update;
    return *this;
  }
};

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
  double rate = 0;
  std::int64_t samples = 0;       // of the global batch that were used
  std::int64_t own_samples = 0;   // of these, the samples that this rank ran
  std::int64_t skipped = 0;       // of the global batch that could not be read
  bool is_empty = false;          // all samples were skipped, and nothing was updated
  bool is_finite = true;          // false: nothing was updated
  bool is_stop_wanted = false;    // some rank was asked to stop: all ranks stop after this step
  bool is_change_wanted = false;  // some rank knows of workers that wait to join or have to leave
  bool is_repeated = false;       // after a failure: `times` omits the work kept from the first try
  std::vector<int> left_out{};    // ranks that the step excluded because they were late
  parallel::Traffic traffic{};    // of this rank's gradients, where a codec made them smaller
  StepTimes times{};
};

inline constexpr FaultPoint kForward{"step.forward"};    // forward of a micro-batch begins
inline constexpr FaultPoint kBackward{"step.backward"};  // backward of a micro-batch begins
inline constexpr FaultPoint kReduce{"step.reduce"};      // this rank has run all its micro-batches

// Describes the step to run.
struct Turn {
  std::int64_t step = 0;     // of the job, from 0
  std::int64_t updates = 0;  // made before this step; fewer than steps if some were dropped
  bool is_stop_wanted = false;
  bool is_change_wanted = false;
  // The step may exclude late ranks, if the job allows it. False in the last step, because no later
  // step could run their samples.
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
    optim::Schedule schedule{1e-3};
    double rate_factor = 1;  // multiplies the schedule's learning rate; reduced on plateaus
    double max_grad_norm = 0;
    double max_grad_value = 0;
    TrainConfig config{};
    std::vector<int> micro_batch_owners = {0};  // by micro-batch: the rank that runs it
    int rank = 0;
    int ranks = 1;
    int left_out_max = 0;  // number of late ranks that a step may exclude
    Faults* faults = nullptr;
  };
  explicit Step(Parts parts);

  Outcome run(const Turn& turn);
  // A hash of the current micro-batches: which samples each one has.
  std::uint64_t assignment() const;
  Outcome run(std::int64_t updates, bool is_stop_wanted = false) {
    return run({.step = updates, .updates = updates, .is_stop_wanted = is_stop_wanted});
  }
  // Finishes a step whose reduce() was interrupted on this rank, with the result that other ranks
  // received.
  Outcome finish(const parallel::Gradients& all);

  // Runs the last batches forward again, and returns the path of the first block whose output is
  // not finite; "" if there is none or the model is not made of blocks.
  std::string first_block_not_finite();

  // Samples of ranks that the last step excluded. The next step runs them in addition to its own.
  const std::vector<data::Returned>& returned() const noexcept { return returned_; }
  void set_returned(std::vector<data::Returned> samples);

  optim::LossScale& loss_scale() noexcept { return loss_scale_; }
  Parts& parts() noexcept { return parts_; }

 private:
  // What a micro-batch adds to the step's sums.
  struct MicroBatchSums {
    double loss = 0;
    // The sums of each member of PredictionErrors, then the number of skipped samples.
    parallel::ReportedSums reported{};
  };

  parallel::StepPlan plan(const data::StepBatches& work) const;
  void keep_micro_batches(const Turn& turn);
  const data::StepBatches& take_work();
  void add_returned();
  MicroBatchSums run_unless_late(const data::StepBatches& work);
  void leave_out(const parallel::Gradients& all);
  MicroBatchSums run_micro_batches(const data::StepBatches& work);
  void book(double& part);
  void pass(FaultPoint point) const { reach(parts_.faults, point, 0); }
  model::Context context(const data::StepBatches& work, std::size_t index) const;
  double terms_of(const data::StepBatches& work);
  at::Tensor forward(const data::StepBatches& work, std::size_t index);
  void note_errors(const at::Tensor& output, const at::Tensor& target);
  bool is_scaled() const noexcept { return parts_.config.precision == Precision::Float16; }

  Parts parts_;
  optim::LossScale loss_scale_;
  double terms_ = 1;                         // of the step's loss, over all ranks
  const data::StepBatches* last_ = nullptr;  // owned by the loader, valid until its next()
  std::vector<data::Returned> returned_;
  std::vector<bool> was_left_out_;  // by rank, of the last step
  data::StepBatches work_;          // of a step with returned samples
  std::vector<int> owners_;         // by micro-batch of the current step
  // Returned samples that a rank runs in the current step in addition to its micro-batches.
  struct Beyond {
    int owner = 0;
    data::Returned samples;
  };
  std::vector<Beyond> beyond_;
  double own_terms_ = 0;
  Turn turn_;
  int micro_batches_ = 1;                              // of the current step, over all ranks
  std::uint64_t assignment_ = 0;                       // likewise
  int kept_micro_batches_ = 0;                         // see StepPlan
  Outcome outcome_;                                    // of the current step
  MicroBatchSums current_;                             // of the current micro-batch
  std::map<int, MicroBatchSums> sums_of_micro_batch_;  // of the current step
  Stopwatch watch_;
  double waited_ = 0;  // seconds that passes had waited for other ranks at the last lap
};

}  // namespace trireme::train
