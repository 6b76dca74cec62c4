// A panel is several trained models that are asked about the same samples, a batch at a time.
//
// Meaning: each reads the data as its own recipe says (its normalization may differ, and how its
//          targets are standardized); the answers are to the same questions: as many samples, with
//          the same classes, tasks and targets. Numbers are compared in their original units.
// Threads: one.
// Failure: InvalidInput where the questions are not the same, naming the first sample; what sources
//          and models throw.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "trireme/comm/timeouts.h"
#include "trireme/data/batch.h"
#include "trireme/data/source/source.h"
#include "trireme/model/model.h"

namespace trireme::train {

struct PanelMember {
  std::shared_ptr<model::Model> model;
  std::shared_ptr<const data::Source> source;
};

struct PanelAnswers {
  std::int64_t first = 0;  // sample of the batch
  // Of each member, float32, standardized as the first's targets; none where no sample of the batch
  // could be read.
  std::vector<at::Tensor> outputs;
  data::Batch batch;  // as the first member reads it
};

struct PanelReading {
  std::int64_t batch = 256;
  comm::Timeouts timeouts{};  // of the data
};

// Calls `take` with each batch, in order. Leaves the models in training mode.
void ask_panel(const std::vector<PanelMember>& members, const PanelReading& reading,
               const std::function<void(const PanelAnswers&)>& take);

}  // namespace trireme::train
