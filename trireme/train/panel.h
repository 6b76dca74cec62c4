// A panel is several trained models that are asked about the same samples, a batch at a time.
//
// Meaning: each reads the data as its own recipe says (its normalization may differ); the answers
//          are to the same questions: as many samples, with the same targets.
// Threads: one.
// Failure: InvalidInput where the questions are not the same, naming the first sample; what sources
//          and models throw.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "trireme/data/batch.h"
#include "trireme/data/source.h"
#include "trireme/model/model.h"

namespace trireme::train {

struct PanelMember {
  std::shared_ptr<model::Model> model;
  std::shared_ptr<const data::Source> source;
};

struct PanelAnswers {
  std::int64_t first = 0;           // sample of the batch
  std::vector<at::Tensor> outputs;  // of each member, float32
  data::Batch batch;                // as the first member reads it
};

// Calls `take` with each batch, in order. Leaves the models in training mode.
void ask_panel(const std::vector<PanelMember>& members, std::int64_t batch,
               const std::function<void(const PanelAnswers&)>& take);

}  // namespace trireme::train
