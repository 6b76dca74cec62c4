// Step makes one update of a model: batches in, new weights out. It reads the same whatever the
// agreement: one rank or many, one copy or slices.
//
// A slot's loss is its sum divided by the number of terms in the whole global batch, so the
// gradients of all slots add up to that of the mean, however unevenly the slots were dealt.
//
// Failure: what loader, model and agreement throw. A result that is not finite is no error here:
//          the outcome says so, and the weights are as they were. With NonFinite::Stop only the
//          loss is looked at: a gradient that is not finite beside a loss that is goes into the
//          weights, and whoever saves them looks there.

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

// Where a step's time went, in seconds; they add up to the step.
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

// Of a regression's predictions: means over the global batch and all targets.
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
  std::int64_t samples = 0;       // of the global batch: those that were used
  std::int64_t own_samples = 0;   // of them, those that this rank ran
  std::int64_t skipped = 0;       // of the global batch: could not be read, and count for nothing
  bool is_empty = false;          // all of them were skipped, and nothing was updated
  bool is_finite = true;          // otherwise nothing was updated
  bool is_stop_wanted = false;    // some rank was asked to end: all end after this step
  bool is_change_wanted = false;  // some rank knows of others who wait to join, or are to leave
  bool is_repeated = false;       // after a death: the times miss what the first attempt kept
  std::vector<int> left_out{};    // ranks that the step went on without
  parallel::Traffic traffic{};    // of this rank's gradients, where a codec made them smaller
  StepTimes times{};
};

inline constexpr FaultPoint kForward{"step.forward"};    // of a slot begins
inline constexpr FaultPoint kBackward{"step.backward"};  // of a slot begins
inline constexpr FaultPoint kReduce{"step.reduce"};      // all slots of this rank are done

// Which step it is.
struct Turn {
  std::int64_t step = 0;     // of the job, from 0
  std::int64_t updates = 0;  // that were made before; fewer where some steps were dropped
  bool is_stop_wanted = false;
  bool is_change_wanted = false;
  bool can_leave_out = true;          // slow ranks, where the job allows it: another step will come
  bool is_repeated = false;           // a death cut the last attempt short
  std::uint64_t kept_assignment = 0;  // of a repeated step: whose gradients stay; 0: of none
};

class Step {
 public:
  struct Parts {
    std::shared_ptr<model::Model> model;
    std::shared_ptr<const model::Loss> loss;
    std::shared_ptr<data::Loader> loader;
    std::shared_ptr<parallel::GradientSync> gradient_sync;
    optim::Schedule schedule{1e-3};
    double rate_factor = 1;  // of the schedule's rate: what evaluations have made of it
    double clip_norm = 0;
    double clip_value = 0;
    TrainConfig config{};
    std::vector<int> micro_batch_owners = {0};  // by slot: the rank that runs it
    int rank = 0;
    int ranks = 1;
    int left_out_max = 0;  // ranks that a step may go on without
    Faults* faults = nullptr;
  };
  explicit Step(Parts parts);

  Outcome run(const Turn& turn);
  // A number for the slots as they are dealt now: which samples each has.
  std::uint64_t assignment() const;
  Outcome run(std::int64_t updates, bool is_stop_wanted = false) {
    return run({.step = updates, .updates = updates, .is_stop_wanted = is_stop_wanted});
  }
  // The end of a step whose reduce() was cut short here, with what it gave elsewhere.
  Outcome finish(const parallel::Gradients& all);

  // The path of the first block whose output is not finite, of the batches that ran last; ""
  // where there is none or the model is not made of blocks. Runs them forward again.
  std::string first_block_not_finite();

  // Samples of ranks that were left out of the last step: the next one has them too.
  const std::vector<data::Returned>& returned() const noexcept { return returned_; }
  void set_returned(std::vector<data::Returned> samples);

  optim::LossScale& loss_scale() noexcept { return loss_scale_; }
  Parts& parts() noexcept { return parts_; }

 private:
  // What a slot adds to the step's sums.
  struct MicroBatchSums {
    double loss = 0;
    // Sums of PredictionErrors, member by member, and how many samples were skipped.
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
  const data::StepBatches* last_ = nullptr;  // the loader's, until its next
  std::vector<data::Returned> returned_;
  std::vector<bool> was_left_out_;  // by rank, of the last step
  data::StepBatches work_;          // of a step with returned samples
  std::vector<int> owners_;         // by slot of the step that runs
  // What ranks have in it beyond what is dealt.
  struct Beyond {
    int owner = 0;
    data::Returned samples;
  };
  std::vector<Beyond> beyond_;
  double own_terms_ = 0;
  Turn turn_;
  int micro_batches_ = 1;                              // of the step that runs, on all ranks
  std::uint64_t assignment_ = 0;                       // likewise
  int kept_micro_batches_ = 0;                         // see StepPlan
  Outcome outcome_;                                    // of the step that runs
  MicroBatchSums current_;                             // of the slot that runs
  std::map<int, MicroBatchSums> sums_of_micro_batch_;  // of the step that runs
  Stopwatch watch_;
  double waited_ = 0;  // inside passes, up to the last lap
};

}  // namespace trireme::train
