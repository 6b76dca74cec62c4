// A panel runs several trained models on the same samples, batch by batch.
//
// Each model reads the data as its own recipe says; the normalization of inputs and the
// standardization of targets may differ. The data must have the same number of samples, and the
// same classes, tasks and targets. Numbers are compared in their original units.
//
// Errors:        InvalidInput, with the first sample that differs, if the data are not the same;
//                what sources and models throw.
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "trireme/comm/timeouts.h"
#include "trireme/data/batch.h"
#include "trireme/data/source/source.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/model.h"

namespace trireme::train {

struct PanelMember {
  std::shared_ptr<model::Model> model;
  std::shared_ptr<const data::Source> source;
};

struct PanelAnswers {
  std::int64_t first = 0;  // sample of the batch
  // By member, float32, standardized like the targets of the first member; undefined if no sample
  // of the batch could be read.
  std::vector<at::Tensor> outputs;
  data::Batch batch;  // as the first member reads it
};

struct PanelOptions {
  const model::Loss* loss = nullptr;  // for scores
  std::int64_t batch = 256;
  comm::Timeouts timeouts{};  // of the data
};

// Calls `take` with each batch, in order. Leaves the models in training mode.
void ask_panel(const std::vector<PanelMember>& members, const PanelOptions& options,
               const std::function<void(const PanelAnswers&)>& take);

}  // namespace trireme::train
