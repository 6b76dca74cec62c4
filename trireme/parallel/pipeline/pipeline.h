// Pipeline runs the stages of this rank in a step: it keeps what micro-batches in flight need for
// their backward passes, and exchanges activations and gradients with the ranks of the other stages
// while passes run.
//
//   pipeline.begin_step(shapes);                            // of the inputs, by micro-batch
//   for (const Action& action : pipeline.schedule(count)) {
//     if (action.is_compute()) ... forward() or backward()
//     else pipeline.transfer(action);
//   }
//   pipeline.end_step();
//
// The caller divides passes into windows of the synchronization strategy, computes the loss from
// the output of the last stage, and passes it to backward(). What stages compute is what one rank
// computes, bit for bit, except for the order in which the gradients of a tied weight are added.
//
// Shapes:        shape_of() the input of a micro-batch, the same on all ranks; empty if it has no
//                samples, and no passes. See StageExchange.
// Errors:        what blocks, autograd and Group throw.
// Thread safety: the thread that runs the passes.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/model/stage_model.h"
#include "trireme/parallel/pipeline/schedules.h"
#include "trireme/parallel/pipeline/stage_exchange.h"
#include "trireme/parallel/pipeline/tied_weights.h"

namespace trireme::parallel::pipeline {

inline constexpr const char* kPipeAxis = "pipe";

// What determines the shapes and types of all activations: the input's sizes, and whether autocast
// and gradients are on in this thread.
std::string shape_of(const at::Tensor& input);

class Pipeline {
 public:
  struct Parts {
    std::shared_ptr<model::StageModel> model;  // the stages of this rank
    const ScheduleRecord* schedule = nullptr;
    int stages_per_rank = 1;
    comm::Group group;  // the ranks of the pipe axis
    std::vector<TiedWeight> tied{};
    bool is_ordered = false;  // gradients of each micro-batch stay apart
  };
  explicit Pipeline(Parts parts);

  int stages_per_rank() const noexcept { return parts_.stages_per_rank; }
  bool is_last(int stage) const noexcept { return stage + 1 == placement().stages(); }
  // Whether this rank computes the loss.
  bool has_last_stage() const { return placement().rank_of(placement().stages() - 1) == rank(); }

  // What this rank does in a step with this number of micro-batches.
  const RankSchedule& schedule(int micro_batches);

  void begin_step(std::vector<std::string> shapes);
  bool has_passes(int micro_batch) const { return !shape(micro_batch).empty(); }
  // Receives are begun here; sends were begun by the pass before them.
  void transfer(const Action& action);
  // `input`: of the first stage. Returns what the stage computes.
  model::Activations forward(const Action& pass, const at::Tensor& input,
                             const model::Context& context);
  // `loss`: of the last stage, otherwise undefined.
  void backward(const Action& pass, const at::Tensor& loss);
  // Waits until everything that was sent has arrived.
  void end_step();
  // Seconds that passes have waited for other stages, in total.
  double waited() const noexcept { return exchange_.waited(); }

  // Forward through all stages outside a step. Nothing on ranks without the last stage.
  // refresh_weights() comes before, after weights have changed.
  void refresh_weights() { tied_.refresh(); }
  std::optional<model::Activations> evaluate(const at::Tensor& input,
                                             const model::Context& context);

 private:
  // A micro-batch on a stage, between its forward and its backward pass.
  struct Flight {
    std::vector<at::Tensor> inputs;   // that have gradients, from the stage before
    std::vector<at::Tensor> outputs;  // that have gradients, for the next stage
  };

  const StagePlacement& placement() const noexcept { return exchange_.placement(); }
  int rank() const { return exchange_.rank(); }
  const std::string& shape(int micro_batch) const {
    return shapes_.at(static_cast<std::size_t>(micro_batch));
  }
  model::BlockRange blocks_of(int stage) const;
  model::Activations run(int stage, model::Activations in, const model::Context& context);

  Parts parts_;
  StageExchange exchange_;
  TiedWeights tied_;
  std::map<int, RankSchedule> schedules_;          // by number of micro-batches
  std::vector<std::string> shapes_;                // of the inputs of this step, by micro-batch
  std::map<std::pair<int, int>, Flight> flights_;  // by stage and micro-batch
};

}  // namespace trireme::parallel::pipeline
