// Tally adds up the results of an evaluation, batch by batch, as Scores.
//
// Errors:        what the loss and the group throw; see finish().
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "trireme/comm/group.h"
#include "trireme/data/batch.h"
#include "trireme/data/source/source.h"
#include "trireme/model/loss/loss.h"
#include "trireme/train/evaluate/ranking.h"
#include "trireme/train/evaluate/scores.h"

namespace trireme::train {

class Tally {
 public:
  // `is_ranked`: keeps a row per sample, for the area under the ROC curve. The source and the loss
  // must outlive this object.
  Tally(const data::Source& source, const model::Loss& loss, bool is_ranked);

  // Adds the outputs of the model, float32, for a batch whose batch.places count from `first`. Of a
  // batch without samples, because none could be read, only the skipped ones are counted.
  void add(std::int64_t first, const at::Tensor& outputs, const data::Batch& batch);
  // Of this rank.
  const Scores& scores() const noexcept { return scores_; }
  // Adds up the counts of all ranks. Throws InvalidInput if no sample could be read, since there is
  // no score then.
  Scores finish(const comm::Group& group = comm::Group::solo());

 private:
  const data::Form* form_;
  const model::Loss* loss_;
  Scores scores_;
  std::optional<Ranking> ranking_;
};

// Whether the area under the ROC curve can be computed: each sample has one class, and there are
// not too many samples.
bool can_rank(const data::Source& source);

}  // namespace trireme::train
