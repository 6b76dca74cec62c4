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
#include <memory>
#include <string>
#include <vector>

#include "trireme/data/loader.h"
#include "trireme/model/loss.h"
#include "trireme/model/model.h"
#include "trireme/optim/loss_scale.h"
#include "trireme/optim/schedule.h"
#include "trireme/parallel/agree.h"
#include "trireme/train/config.h"

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

struct Outcome {
  double loss = 0;  // mean over the global batch
  double norm = 0;  // of the gradient, where it was clipped
  double rate = 0;
  std::int64_t samples = 0;     // of the global batch
  bool is_finite = true;        // otherwise nothing was updated
  bool is_stop_wanted = false;  // some rank was asked to end: all end after this step
  StepTimes times;
};

class Step {
 public:
  struct Parts {
    std::shared_ptr<model::Model> model;
    std::shared_ptr<const model::Loss> loss;
    std::shared_ptr<data::Loader> loader;
    std::shared_ptr<parallel::Agreement> agreement;
    optim::Schedule schedule{1e-3};
    double clip_norm = 0;
    double clip_value = 0;
    TrainConfig config{};
    std::vector<int> slot_owners = {0};  // by slot: the rank that runs it
  };
  explicit Step(Parts parts);

  // `updates` were made before.
  Outcome run(std::int64_t updates, bool is_stop_wanted = false);

  // The path of the first block whose output is not finite, of the batches that ran last; ""
  // where there is none or the model is not made of blocks. Runs them forward again.
  std::string first_block_not_finite();

  optim::LossScale& loss_scale() noexcept { return loss_scale_; }
  Parts& parts() noexcept { return parts_; }

 private:
  parallel::StepPlan plan(const data::StepBatches& work, const parallel::Update& update) const;
  model::Context context(const data::StepBatches& work, std::size_t index,
                         std::int64_t updates) const;
  double terms_of(const data::StepBatches& work) const;
  at::Tensor forward(const data::StepBatches& work, std::size_t index, std::int64_t updates);
  bool is_scaled() const noexcept { return parts_.config.precision == Precision::Float16; }

  Parts parts_;
  optim::LossScale loss_scale_;
  double terms_ = 1;                         // of the step's loss, over all ranks
  const data::StepBatches* last_ = nullptr;  // the loader's, until its next
  std::int64_t last_updates_ = 0;
};

}  // namespace trireme::train
