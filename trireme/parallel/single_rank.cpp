#include "trireme/parallel/single_rank.h"

#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/optim/clip.h"

namespace trireme::parallel {

SingleRank::SingleRank(Options options)
    : options_(std::move(options)),
      commit_({.group = options_.replica_group}),
      hooks_(options_.parameters, [this](std::size_t parameter) { on_gradient(parameter); }) {
  const std::size_t states = options_.optimizer->state_names().size();
  for (Parameter& parameter : options_.parameters) {
    // Update rules work on contiguous memory.
    if (!parameter.tensor.is_contiguous()) parameter.tensor.set_data(parameter.tensor.contiguous());
    index_.emplace(parameter.tensor.unsafeGetTensorImpl(), index_.size());
    std::vector<at::Tensor>& own = state_.emplace_back();
    const auto options_of = parameter.tensor.options().requires_grad(false);
    for (std::size_t i = 0; i < states; ++i) {
      own.push_back(at::zeros({parameter.tensor.numel()}, options_of));
    }
  }
  const bool is_on_gpu = !options_.parameters.empty() && options_.parameters[0].tensor.is_cuda();
  if (is_on_gpu && options_.narrow_type) {
    narrow_.emplace(options_.parameters, *options_.narrow_type);
  }
}

void SingleRank::begin_step(const StepPlan& plan) {
  plan_ = plan;
  if (plan_.micro_batch_count > 1) micro_batches_.begin(plan_.micro_batch_count);
  drop();
  if (narrow_) narrow_->expire();
  commit_.begin(plan.step);
}

bool SingleRank::begin_micro_batch(std::size_t) {
  rows_.clear();
  is_asked_.assign(options_.parameters.size(), false);
  has_come_.assign(options_.parameters.size(), false);
  is_early_ = plan_.early && options_.can_update_early && plan_.micro_batch_count == 1;
  return true;
}

at::Tensor SingleRank::lend(const at::Tensor& parameter) {
  const auto found = index_.find(parameter.unsafeGetTensorImpl());
  if (found != index_.end() && !is_asked_.empty()) is_asked_[found->second] = true;
  return {};
}

bool SingleRank::add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                          const at::Tensor& values) {
  const auto found = index_.find(parameter.unsafeGetTensorImpl());
  if (found == index_.end() || is_asked_.empty()) return false;
  if (!is_asked_[found->second] || has_come_[found->second]) return false;
  rows_.add(found->second, rows, values);
  return true;
}

void SingleRank::on_gradient(std::size_t parameter) {
  const c10::NoGradGuard no_grad;
  if (options_.progress) options_.progress();
  at::Tensor& gradient = options_.parameters[parameter].tensor.mutable_grad();
  // Update rules work on contiguous memory, so the sparse gradient of an embedding becomes dense.
  if (gradient.is_sparse()) gradient = gradient.to_dense();
  rows_.flush(parameter, gradient);
  if (!has_come_.empty()) has_come_[parameter] = true;
  if (!is_early_) return;
  const optim::Slice slice = slice_of(parameter, gradient, plan_.early->learning_rate);
  options_.optimizer->update({&slice, 1}, plan_.early->number, plan_.early->scale);
  gradient.reset();
}

void SingleRank::end_micro_batch() {
  is_early_ = false;
  if (plan_.micro_batch_count == 1) return;
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (Parameter& parameter : options_.parameters) {
    gradients.push_back(std::exchange(parameter.tensor.mutable_grad(), at::Tensor()));
  }
  micro_batches_.add(plan_.micro_batches.at(micro_batches_done_++), std::move(gradients));
}

void SingleRank::finish_reduction() {
  const c10::NoGradGuard no_grad;
  if (plan_.micro_batch_count > 1) {
    auto whole = micro_batches_.take();
    for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
      options_.parameters[i].tensor.mutable_grad() = std::move(whole.at(0).sums[i]);
    }
  }
  if (!plan_.is_norm_wanted && !plan_.is_checked) return;
  std::vector<at::Tensor> gradients;
  for (const Parameter& parameter : options_.parameters) {
    const bool has_gradient = parameter.tensor.grad().defined();
    if (has_gradient && parameter.is_first_holder()) gradients.push_back(parameter.tensor.grad());
  }
  commit_.contribute({.squared_norm = optim::squared_norm(gradients)});
}

optim::Slice SingleRank::slice_of(std::size_t parameter, const at::Tensor& gradient, double rate) {
  const Parameter& own = options_.parameters[parameter];
  return {.value = own.tensor.detach().view({-1}),
          .gradient = gradient.detach().contiguous().view({-1}),
          .state = state_[parameter],
          .learning_rate = rate * own.lr_factor,
          .weight_decay = own.weight_decay,
          .first_step = own.first_update,
          .rule = own.rule,
          .sizes = own.tensor.sizes().vec(),
          .name = own.name};
}

void SingleRank::update(const Update& how) {
  const c10::NoGradGuard no_grad;
  std::vector<optim::Slice> slices;
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    const at::Tensor& gradient = options_.parameters[i].tensor.grad();
    if (gradient.defined()) slices.push_back(slice_of(i, gradient, how.learning_rate));
  }
  if (plan_.max_grad_value > 0) optim::clip_by_value(slices, plan_.max_grad_value, how.scale);
  if (!slices.empty()) options_.optimizer->update(slices, how.number, how.scale);
  drop();
}

void SingleRank::drop() {
  micro_batches_done_ = 0;
  for (Parameter& parameter : options_.parameters) parameter.tensor.mutable_grad().reset();
}

std::vector<checkpoint::Piece> SingleRank::pieces() {
  std::vector<checkpoint::Piece> all;
  const std::vector<std::string> names = options_.optimizer->state_names();
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    const Parameter& own = options_.parameters[i];
    all.push_back(piece_of(own, own.name, 0, own.tensor.detach()));
    for (std::size_t s = 0; s < names.size(); ++s) {
      all.push_back(piece_of(own, state_name(names[s], own.name), 0, state_[i][s]));
    }
  }
  return all;
}

std::string SingleRank::first_not_finite(bool has_gradients) const {
  for (const Parameter& own : options_.parameters) {
    const at::Tensor gradient = own.tensor.grad();
    const bool is_read = has_gradients && gradient.defined();
    if (is_read && !std::isfinite(optim::squared_norm(gradient))) return own.name;
    if (!std::isfinite(optim::squared_norm(own.tensor.detach()))) return own.name;
  }
  return {};
}

}  // namespace trireme::parallel
