// Batch is what a model processes at once: the samples of one micro-batch in one step.
// StepBatches contains all micro-batches that this rank runs in the step.
//
// Lifetime: the tensors belong to a loader, which reuses them for a later step unless another owner
// still holds them.

#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "trireme/data/order/position.h"

namespace trireme::data {

struct Batch {
  at::Tensor input;          // (B, form.input_sizes...)
  at::Tensor target;         // (B, form.target_sizes...)
  at::Tensor places;         // int64 (B): indices in the step's global batch
  std::int64_t skipped = 0;  // samples that could not be read and were left out

  std::int64_t count() const { return places.defined() ? places.size(0) : 0; }
};

// Appends `more` to a batch, which may be empty.
inline void append(Batch& batch, Batch more) {
  const std::int64_t skipped = batch.skipped + more.skipped;
  if (batch.count() == 0) {
    batch = std::move(more);
  } else if (more.count() > 0) {
    batch = {.input = at::cat({batch.input, more.input}),
             .target = at::cat({batch.target, more.target}),
             .places = at::cat({batch.places, more.places})};
  }
  batch.skipped = skipped;
}

struct StepBatches {
  Position at;                     // where the step begins
  std::int64_t total = 0;          // samples in the whole step, over all micro-batches on all ranks
  std::vector<int> micro_batches;  // batches[i] is micro-batch micro_batches[i]
  std::vector<Batch> batches;
};

}  // namespace trireme::data
