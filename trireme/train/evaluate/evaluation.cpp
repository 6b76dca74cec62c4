#include "trireme/train/evaluate/evaluation.h"

#include <c10/core/InferenceMode.h>

#include <functional>

#include "trireme/data/loader.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/model/documents.h"
#include "trireme/train/evaluate/tally.h"
#include "trireme/train/module_precision.h"

namespace trireme::train {
namespace {

// Also runs the collective in a group of one rank, because it counts as progress of an elastic
// worker.
bool is_wanted_by_any(const std::atomic<bool>& flag, const comm::Group& group) {
  std::int64_t wanted = flag.load() ? 1 : 0;
  group
      .all_reduce({&wanted, 1, comm::DType::Int64}, comm::ReduceOp::Max,
                  {.label = "evaluation goes on"})
      .wait();
  return wanted != 0;
}

// Puts the model into evaluation mode, and back into training mode even after an exception.
class Evaluating {
 public:
  explicit Evaluating(model::Model& model) : model_(model) { model_.eval(); }
  ~Evaluating() { model_.train(); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  model::Model& model_;
};

}  // namespace

at::Tensor outputs_of(model::Model& model, const data::StepBatches& work, const data::Form& form,
                      parallel::pipeline::Pipeline* pipeline) {
  const data::Batch& batch = work.batches[0];
  if (batch.count() == 0) return {};
  const at::Tensor input = batch.input.to(model::device_of(model));
  const model::Context context{.micro_batch = work.micro_batches[0],
                               .places = batch.places,
                               .documents = model::documents_in(input, form)};
  if (pipeline == nullptr) return model.forward(input, context).to(at::kFloat);
  const auto last = pipeline->evaluate(input, context);
  return last ? last->main.to(at::kFloat) : at::Tensor();
}

namespace {

// Gives up before a batch if `is_stop_wanted`, a collective, is true.
std::optional<Scores> run(model::Model& model, const EvaluationOptions& options,
                          const std::function<bool()>& is_stop_wanted) {
  const c10::InferenceMode guard;
  Tally tally(*options.source, *options.loss, options.is_ranked);
  data::Loader loader({.source = options.source,
                       .batch = options.batch * options.group.size(),
                       .micro_batches = options.group.size(),
                       .mine = {options.group.rank()},
                       .is_shuffled = false,
                       .threads = options.threads,
                       .timeout = options.group.timeouts().loader()});
  const Evaluating evaluating(model);
  const Autocast precision(model::device_of(model).type(), narrow_type(options.precision));
  const bool has_outputs = options.pipeline == nullptr || options.pipeline->has_last_stage();
  if (options.pipeline != nullptr) options.pipeline->refresh_weights();
  for (std::int64_t step = 0; step < loader.steps_an_epoch(); ++step) {
    if (is_stop_wanted && is_stop_wanted()) return {};
    const data::StepBatches& work = loader.next();
    const at::Tensor outputs = outputs_of(model, work, options.source->form(), options.pipeline);
    if (has_outputs) tally.add(work.at.cursor, outputs, work.batches[0]);
  }
  return has_outputs ? tally.finish(options.group) : tally.scores();
}

}  // namespace

Scores evaluate(model::Model& model, const EvaluationOptions& options) {
  return *run(model, options, nullptr);
}

std::optional<Scores> evaluate_unless(model::Model& model, const EvaluationOptions& options,
                                      const std::atomic<bool>& is_stop_wanted,
                                      const comm::Group& all) {
  return run(model, options, [&] { return is_wanted_by_any(is_stop_wanted, all); });
}

}  // namespace trireme::train
