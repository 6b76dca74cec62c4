#include "trireme/parallel/local/delayed.h"

#include <c10/core/GradMode.h>

#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/elastic_data_parallel.h"

namespace trireme::parallel::local {

Delayed::Delayed(Options options)
    : group_(options.flat.group),
      buffers_(std::move(options.buffers), {}),
      late_(options.flat),
      is_elastic_(options.flat.is_elastic),
      faults_(options.faults),
      commit_({.group = options.commit_group.value_or(options.flat.group),
               .flag_count = options.own.parameters.size(),
               .has_figures_in_status = true,
               .faults = options.faults}) {
  const c10::NoGradGuard no_grad;
  options.own.can_update_early = false;
  // The reduction in flight makes progress while backward computes.
  options.own.progress = [this] { late_.poll(); };
  own_ = std::make_unique<SingleRank>(std::move(options.own));
  expect_same_parameters(group_, own_->parameters());
  for (const checkpoint::Piece& piece : own_->saved().pieces()) {
    comm::broadcast(group_, piece.data, 0, {.label = "first weights"}).wait();
  }
}

void Delayed::begin_step(const StepPlan& plan) {
  if (is_elastic_) {
    if (const std::optional<Error> error = group_.error()) throw *error;
    buffers_.keep();
  }
  plan_ = plan;
  commit_.begin(plan.step);
  buffers_.broadcast(group_);
  StepPlan own = plan;
  own.early.reset();
  own.is_norm_wanted = own.is_checked = false;
  own.micro_batch_count = static_cast<int>(plan.micro_batches.size());
  for (int i = 0; i < own.micro_batch_count; ++i)
    own.micro_batches[static_cast<std::size_t>(i)] = i;
  own_->begin_step(own);
}

void Delayed::finish_reduction() {
  const c10::NoGradGuard no_grad;
  own_->finish_reduction();
  // This comes before the commit: if any rank completes that, all ranks have the gradients of the
  // previous step.
  late_.land();
  Reduced reduced{.traffic = late_.take_traffic()};
  for (const Parameter& parameter : own_->parameters()) {
    reduced.flags.push_back(parameter.tensor.grad().defined());
  }
  // All replicas have the same sum.
  const bool is_first_holder = group_.rank() == 0;
  if (is_first_holder && late_.is_there() && (plan_.is_norm_wanted || plan_.is_checked)) {
    reduced.squared_norm = late_.squared_norm();
  }
  commit_.contribute(std::move(reduced));
}

void Delayed::update(const Update& how) {
  const c10::NoGradGuard no_grad;
  late_.replace(plan_, commit_.result().flags);
  const bool has_gradients = late_.give();
  reach(faults_, data::kUpdating, group_.rank());
  commit_.finish();
  if (has_gradients) {
    own_->update(how);
  } else {
    own_->drop();
  }
}

// Gradients of this step or of the previous one were not finite. Neither are applied.
void Delayed::drop() {
  commit_.finish();
  own_->drop();
  late_.drop();
}

void Delayed::check() {
  expect_same_values(group_, own_->parameters(), group_.rank());
}

void Delayed::restore_own(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  late_.restore(from);
}

void Delayed::survive(const comm::Group& group, std::vector<int> /*places*/) {
  late_.pause();
  group_ = group;
  commit_.regroup(group);
}

void Delayed::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  // The step will run again and will change the buffers again.
  if (commit_.status().phase == StepStatus::Phase::Open) buffers_.undo();
  const StateReports all = StateReports::exchange(group_, has_state_ && !is_new, late_.report());
  late_.regroup(group_);
  late_.complete(group_, all);
  if (!all.have_all_state()) share(all.source());
  group_.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
  late_.resume();
}

// Ranks that have the state receive identical values, so this changes nothing for them.
void Delayed::share(int source) {
  expect_same_parameters(group_, own_->parameters());
  const auto give = [&](const at::Tensor& tensor) {
    comm::broadcast(group_, tensor, source, {.label = "state"}).wait();
  };
  for (const checkpoint::Piece& piece : own_->saved().pieces()) give(piece.data);
  for (const at::Tensor& buffer : buffers_.tensors()) give(buffer);
  late_.share(group_, source);
}

}  // namespace trireme::parallel::local
