// Batch is what a model is given at once: the samples of one slot in one step.
// StepBatches are those of all slots that this rank runs in the step.
//
// Lifetime: the tensors belong to a loader, which uses them again for a later step unless somebody
//           still holds them.

#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "trireme/data/position.h"

namespace trireme::data {

struct Batch {
  at::Tensor input;   // (B, form.input_sizes...)
  at::Tensor target;  // (B, form.target_sizes...)
  at::Tensor places;  // int64 (B): indices in the step's global batch

  std::int64_t count() const { return places.defined() ? places.size(0) : 0; }
};

// Joins `more` to the end of a batch, which may be an empty one.
inline void append(Batch& batch, Batch more) {
  if (batch.count() == 0) {
    batch = std::move(more);
  } else if (more.count() > 0) {
    batch = {.input = at::cat({batch.input, more.input}),
             .target = at::cat({batch.target, more.target}),
             .places = at::cat({batch.places, more.places})};
  }
}

struct StepBatches {
  Position at;             // where the step begins
  std::int64_t total = 0;  // samples of the whole step, of all slots everywhere
  std::vector<int> slots;  // batches[i] is that of slot slots[i]
  std::vector<Batch> batches;
};

}  // namespace trireme::data
