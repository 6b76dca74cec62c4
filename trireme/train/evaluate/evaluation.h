// evaluate() runs a model over a whole data set. Every sample counts exactly once, for any batch
// size, remainder and number of ranks.
//
// Errors:        what the source, the model and the group throw.
// Thread safety: one thread.

#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "trireme/comm/group.h"
#include "trireme/data/batch.h"
#include "trireme/data/source/source.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/model.h"
#include "trireme/parallel/pipeline/pipeline.h"
#include "trireme/train/evaluate/scores.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {

struct EvaluationOptions {
  std::shared_ptr<const data::Source> source;
  const model::Loss* loss = nullptr;
  std::int64_t batch = 256;
  int threads = 1;  // that read data
  Precision precision = Precision::Float32;
  bool is_ranked = false;  // keeps a row per sample, for the area under the ROC curve
  // One rank of each data-parallel replica: they share the batches, and all get the same scores.
  // Its timeouts also apply to the data.
  comm::Group group = comm::Group::solo();
  // Runs the stages of this rank instead of the whole model; null: there is one stage. Ranks
  // without the last stage get empty scores.
  parallel::pipeline::Pipeline* pipeline = nullptr;
};

// Leaves the model in training mode.
Scores evaluate(model::Model& model, const EvaluationOptions& options);

// Nullopt if the flag of any rank of `all` turned true before the last batch; all ranks then stop
// after the same batch. Ranks exchange the flag before each batch, with one small all-reduce.
// `all`: the ranks of all replicas.
std::optional<Scores> evaluate_unless(model::Model& model, const EvaluationOptions& options,
                                      const std::atomic<bool>& is_stop_wanted,
                                      const comm::Group& all);

// The outputs of a model for the first batch of a step, float32 on the model's device; undefined if
// no sample of the batch could be read, and on ranks without the last stage of the pipeline.
at::Tensor outputs_of(model::Model& model, const data::StepBatches& work, const data::Form& form,
                      parallel::pipeline::Pipeline* pipeline = nullptr);

}  // namespace trireme::train
