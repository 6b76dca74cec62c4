// AveragedWeights temporarily replaces the weights by their average, which [average] keeps as
// optimizer state, so that evaluations and exports use it.
//
// Errors:        what the gradient synchronization throws. A rank that does not reach put_back()
//                has lost its weights.
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/model/model.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::train {

class AveragedWeights {
 public:
  // Replaces the model's weights by their average. A collective. Needs memory for a copy of the
  // values that this rank updates.
  explicit AveragedWeights(parallel::GradientSync& gradient_sync);

  // Restores the weights, bitwise. A collective.
  void put_back();

 private:
  struct Kept {
    at::Tensor place, values;
  };

  parallel::GradientSync& gradient_sync_;
  std::vector<Kept> kept_;
};

// Replaces the weights of a model, which was read from this checkpoint, by the averages in the
// checkpoint. Parameters without an average keep their weights.
void read_average(model::Model& model, const checkpoint::Checkpoint& from);

}  // namespace trireme::train
