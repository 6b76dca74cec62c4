// AveragedWeights puts the mean of the weights, which [average] keeps as optimizer state, in the
// place of the weights, and back: what evaluations look at and what is exported.
//
// Threads: one.
// Failure: what the agreement throws. Whoever does not come to put_back() has lost the weights.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/model/model.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::train {

class AveragedWeights {
 public:
  // From here on the model's weights are the mean. A collective; it costs a copy of the values that
  // this rank updates.
  explicit AveragedWeights(parallel::GradientSync& gradient_sync);

  // The weights are as they were, to the bit. A collective.
  void put_back();

 private:
  struct Kept {
    at::Tensor place, values;
  };

  parallel::GradientSync& gradient_sync_;
  std::vector<Kept> kept_;
};

// A model that was read from this checkpoint gets the mean that is there; what has none stays.
void read_average(model::Model& model, const checkpoint::Checkpoint& from);

}  // namespace trireme::train
