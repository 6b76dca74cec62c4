// TiedWeights keeps a weight that stages on several ranks read equal on all of them, such as the
// embedding of a text model, which is also the matrix of its head. The rank of the first of these
// stages owns it: it updates and saves it, and it is a parameter of that rank only.
//
//   In a step, the owner sends the values to the others after its first forward pass, and they send
//   their gradients, summed over the step, before its last backward pass.
//
// Errors:        what Group throws.
// Thread safety: the thread that runs the passes.

#pragma once

#include <map>
#include <vector>

#include "trireme/model/stage_model.h"
#include "trireme/parallel/pipeline/stage_exchange.h"

namespace trireme::parallel::pipeline {

struct TiedWeight {
  at::Tensor tensor;
  int index = 0;              // among all
  int owner = 0;              // its rank
  std::map<int, int> stages;  // by rank: the first of its stages that reads the weight
};

// Those that stages on several ranks read. `stages`: by stage, its blocks.
std::vector<TiedWeight> tied_weights(const model::BlockModel& whole,
                                     const std::vector<model::BlockRange>& stages,
                                     const StagePlacement& placement);

class TiedWeights {
 public:
  // Gives those of other owners memory. `is_summed`: gradients travel once per step, and not once
  // per micro-batch, whose sums then keep their order.
  TiedWeights(std::vector<TiedWeight> all, StageExchange& exchange, bool is_summed);

  // The micro-batches that have passes, first and last, in the step that begins.
  void begin_step(int first, int last);
  // Around a forward pass.
  void before_forward(int stage, int micro_batch);
  void after_forward(int stage, int micro_batch);
  // Adds gradients of others to the roots of a backward pass, with these gradients.
  void before_backward(int stage, int micro_batch, std::vector<at::Tensor>& roots,
                       std::vector<at::Tensor>& gradients);
  void after_backward(int stage, int micro_batch);
  // The owners' values of all weights, outside a step.
  void refresh();

 private:
  bool is_due(int micro_batch) const { return !is_summed_ || micro_batch == last_; }
  // This rank's first stage that reads the weight; -1 if none does.
  int own_stage(const TiedWeight& weight) const;
  bool is_own(const TiedWeight& weight) const { return weight.owner == exchange_.rank(); }
  void send_values(const TiedWeight& weight);
  void receive_values(const TiedWeight& weight);

  std::vector<TiedWeight> all_;
  StageExchange& exchange_;
  bool is_summed_;
  int first_ = 0;
  int last_ = 0;
};

}  // namespace trireme::parallel::pipeline
