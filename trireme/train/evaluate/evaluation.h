// evaluate() runs a model over a whole data set and counts: every sample exactly once, whatever
// the batch, the remainder and the number of ranks.
//
// Threads: one.
// Failure: what the source, the model and the group throw.

#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "trireme/comm/group.h"
#include "trireme/data/source/source.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/model.h"
#include "trireme/train/evaluate/scores.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {

struct EvaluationOptions {
  std::shared_ptr<const data::Source> source;
  const model::Loss* loss = nullptr;
  std::int64_t batch = 256;
  int threads = 1;  // that read data
  Precision precision = Precision::Float32;
  bool is_ranked = false;  // for the area under the curve: keeps a row a sample
  // Ranks share the batches; all get the same scores. Its timeouts hold for the data as well.
  comm::Group group = comm::Group::solo();
};

// Leaves the model in training mode.
Scores evaluate(model::Model& model, const EvaluationOptions& options);

// Nothing where the flag of any rank turned true before the last batch: all ranks then give up
// after the same one. Ranks agree before each batch, with one small reduction.
std::optional<Scores> evaluate_unless(model::Model& model, const EvaluationOptions& options,
                                      const std::atomic<bool>& is_stop_wanted);

}  // namespace trireme::train
