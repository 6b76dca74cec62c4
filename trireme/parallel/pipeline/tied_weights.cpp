#include "trireme/parallel/pipeline/tied_weights.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <utility>

namespace trireme::parallel::pipeline {

std::vector<TiedWeight> tied_weights(const model::BlockModel& whole,
                                     const std::vector<model::BlockRange>& stages,
                                     const StagePlacement& placement) {
  const auto stage_of = [&](std::size_t block) {
    int stage = 0;
    while (block >= stages[static_cast<std::size_t>(stage)].end) ++stage;
    return stage;
  };
  std::vector<TiedWeight> all;
  for (const model::TiedTensor& tied : model::tied_tensors(whole)) {
    TiedWeight weight{.tensor = tied.tensor,
                      .index = static_cast<int>(all.size()),
                      .owner = placement.rank_of(stage_of(tied.blocks.front())),
                      .stages = {}};
    for (const std::size_t block : tied.blocks) {
      const int stage = stage_of(block);
      weight.stages.emplace(placement.rank_of(stage), stage);
    }
    if (weight.stages.size() > 1) all.push_back(std::move(weight));
  }
  return all;
}

TiedWeights::TiedWeights(std::vector<TiedWeight> all, StageExchange& exchange, bool is_summed)
    : all_(std::move(all)), exchange_(exchange), is_summed_(is_summed) {
  const c10::NoGradGuard no_grad;
  for (TiedWeight& weight : all_) {
    if (is_own(weight) || own_stage(weight) < 0) continue;
    const auto options = weight.tensor.options().requires_grad(false);
    weight.tensor.set_data(at::empty(weight.tensor.sizes(), options));
  }
}

int TiedWeights::own_stage(const TiedWeight& weight) const {
  const auto found = weight.stages.find(exchange_.rank());
  return found == weight.stages.end() ? -1 : found->second;
}

void TiedWeights::begin_step(int first, int last) {
  first_ = first;
  last_ = last;
  for (const TiedWeight& weight : all_) {
    if (!is_own(weight)) weight.tensor.mutable_grad().reset();
  }
}

void TiedWeights::send_values(const TiedWeight& weight) {
  for (const auto& [rank, stage] : weight.stages) {
    if (rank != weight.owner) exchange_.send_tied(weight.index, 0, weight.tensor, rank);
  }
}

void TiedWeights::receive_values(const TiedWeight& weight) {
  exchange_.receive_tied(weight.index, 0, weight.tensor, weight.owner);
}

void TiedWeights::before_forward(int stage, int micro_batch) {
  if (micro_batch != first_) return;
  for (const TiedWeight& weight : all_) {
    if (!is_own(weight) && own_stage(weight) == stage) receive_values(weight);
  }
}

// Only now are the owner's values there: a block may wait for them.
void TiedWeights::after_forward(int stage, int micro_batch) {
  if (micro_batch != first_) return;
  for (const TiedWeight& weight : all_) {
    if (is_own(weight) && own_stage(weight) == stage) send_values(weight);
  }
}

// As a root of the pass, so that the weight's gradient is complete at once.
void TiedWeights::before_backward(int stage, int micro_batch, std::vector<at::Tensor>& roots,
                                  std::vector<at::Tensor>& gradients) {
  if (!is_due(micro_batch)) return;
  for (const TiedWeight& weight : all_) {
    if (!is_own(weight) || own_stage(weight) != stage) continue;
    for (const auto& [rank, other] : weight.stages) {
      if (rank == weight.owner) continue;
      const at::Tensor theirs = at::empty_like(weight.tensor.detach());
      exchange_.receive_tied(weight.index, micro_batch, theirs, rank);
      roots.push_back(weight.tensor);
      gradients.push_back(theirs);
    }
  }
}

void TiedWeights::after_backward(int stage, int micro_batch) {
  if (!is_due(micro_batch)) return;
  const c10::NoGradGuard no_grad;
  for (const TiedWeight& weight : all_) {
    if (is_own(weight) || own_stage(weight) != stage) continue;
    at::Tensor sum = std::exchange(weight.tensor.mutable_grad(), {});
    if (!sum.defined()) sum = at::zeros_like(weight.tensor);
    exchange_.send_tied(weight.index, micro_batch, sum, weight.owner);
  }
}

void TiedWeights::refresh() {
  for (const TiedWeight& weight : all_) {
    if (is_own(weight)) {
      send_values(weight);
    } else if (own_stage(weight) >= 0) {
      receive_values(weight);
    }
  }
  exchange_.finish();
}

}  // namespace trireme::parallel::pipeline
