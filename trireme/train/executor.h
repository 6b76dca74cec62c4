// Executor runs the passes of a step in the order of a PassSchedule: forward and backward of the
// micro-batches of this replica. Gradients reach the synchronization strategy as backward produces
// them.
//
// The loss of a micro-batch is its sum divided by the number of terms in the whole global batch.
// The gradients of all micro-batches therefore add up to the gradient of the mean, however unevenly
// micro-batches are assigned to replicas.
//
// Losses and reported sums are copied to the CPU when a forward pass ends, and sums() waits for
// these copies, so that neither a pass nor the reduction of gradients waits for the device, and
// sums() does not wait for backward. The exception are passes that update parameters at once
// (PassServices::updates_early), which nothing could undo: their loss is read before backward, and
// if it is not finite there is no backward.
//
// Errors:        what model, loss and gradient synchronization throw.
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/data/loader.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/model.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/pipeline/pipeline.h"
#include "trireme/train/pass_schedule.h"
#include "trireme/train/recipe/config.h"
#include "trireme/train/report/step_times.h"

namespace trireme::train {

inline constexpr FaultPoint kForward{"step.forward"};    // forward of a micro-batch begins
inline constexpr FaultPoint kBackward{"step.backward"};  // backward of a micro-batch begins

// What the micro-batches of this replica add to the sums of a step.
struct PassSums {
  double loss = 0;
  // Of a regression the sums of squared, absolute and standardized errors; then the number of
  // skipped samples.
  parallel::ReportedSums reported{};
};

class Executor {
 public:
  struct Parts {
    std::shared_ptr<model::Model> model;
    std::shared_ptr<const model::Loss> loss;
    std::shared_ptr<data::Loader> loader;
    std::shared_ptr<parallel::GradientSync> gradient_sync;
    TorchDevice device{};                                      // of the model
    std::shared_ptr<parallel::pipeline::Pipeline> pipeline{};  // of the model's stages, or null
    std::uint64_t seed = 0;
    Faults* faults = nullptr;
  };
  explicit Executor(Parts parts) : parts_(std::move(parts)) {}

  struct Input {
    const data::StepBatches* work = nullptr;  // must outlive the next run()
    std::int64_t updates = 0;                 // made before this step; random numbers depend on it
    double terms = 1;                         // of the loss, in the whole global batch
    double loss_scale = 1;
    Precision precision{};
  };
  // Micro-batches whose gradients an earlier attempt of the step produced are not run.
  void run(const PassSchedule& schedule, const Input& step, StepTimer& timer);
  // The same for a pipeline: this rank's stages, in the order of the pipeline's schedule. Sums are
  // zero on ranks without the last stage.
  void run_stages(const Input& step, StepTimer& timer);
  // Of the step that was run last, with micro-batches that were not run again. Waits until the
  // device has run forward. If the strategy went on without this rank (parallel::Late), all sums
  // are zero.
  PassSums sums();

  // Called before every run. `pieces`: the step is run again, and each micro-batch of the last run
  // is split into so many; the first piece gets the whole sums. 0: another step begins.
  void keep_sums(int pieces);

  // Runs the last batches forward again, and returns the path of the first block whose output is
  // not finite; "" if there is none, or the model is not made of blocks or is a pipeline.
  std::string first_block_not_finite();

 private:
  // Of a finished micro-batch.
  struct Sums {
    Reading values{};  // float64: the loss, then the errors of a regression; empty: no samples
    std::int64_t skipped = 0;
  };
  // A micro-batch between its forward and its backward.
  struct Running {
    bool is_kept = false;  // its gradients are there already
    at::Tensor loss{};     // undefined if it has no samples
    Sums sums{};
  };

  void forward(std::size_t index, Running& running);
  void backward(std::size_t index, Running& running);
  void forward_stage(const parallel::pipeline::Action& pass, Running& running);
  void backward_stage(const parallel::pipeline::Action& pass, Running& running);
  std::vector<std::string> input_shapes() const;
  // All micro-batches of the synchronization strategy, of which those before the last are empty.
  void begin_last(std::size_t micro_batches);
  void note_loss(Running& running, const at::Tensor& output, const std::vector<at::Tensor>& losses,
                 const at::Tensor& target);
  // A batch on the device of the model; its places stay on the CPU.
  data::Batch batch(std::size_t index) const;
  model::Context context(std::size_t index, const data::Batch& batch) const;
  at::Tensor values_of(const at::Tensor& loss, const at::Tensor& output,
                       const at::Tensor& target) const;

  Parts parts_;
  Input step_;
  bool is_late_ = false;
  std::map<int, Sums> sums_;  // by micro-batch of the step
};

}  // namespace trireme::train
