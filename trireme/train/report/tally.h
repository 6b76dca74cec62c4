// Tally counts what a model answered, batch by batch, into Scores.
//
// Threads: one.
// Failure: what the loss and the group throw; see finish().

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
  struct Options {
    const data::Source* source = nullptr;
    const model::Loss* loss = nullptr;
    bool is_ranked = false;  // for the area under the curve: keeps a row a sample
  };
  explicit Tally(const Options& options);

  // Samples of a batch that has no others.
  void add_skipped(std::int64_t count) { scores_.add_skipped(count); }
  // The answers, float32, to samples of which batch.places count from `first`.
  void add(std::int64_t first, const at::Tensor& output, const data::Batch& batch);
  // All ranks' counts together. InvalidInput where no sample could be read: there is no score.
  Scores finish(const comm::Group& group = comm::Group::solo());

 private:
  Options options_;
  Scores scores_;
  std::optional<Ranking> ranking_;
};

// Whether samples can be ranked: of one class each, not too many of them.
bool can_rank(const data::Source& source);

}  // namespace trireme::train
