#include "trireme/parallel/local/delayed.h"

#include <c10/core/GradMode.h>

#include <utility>

#include "trireme/base/error.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/elastic_data_parallel.h"
#include "trireme/parallel/local/common_step.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kLate = "late_gradient";

}  // namespace

Delayed::Delayed(Options options)
    : group_(options.flat.group),
      buffers_(std::move(options.buffers)),
      flat_(options.flat),
      is_elastic_(options.flat.is_elastic),
      faults_(options.faults),
      commit_({.group = options.flat.group,
               .flag_count = options.own.parameters.size(),
               .has_figures_in_status = true,
               .faults = options.faults}) {
  const c10::NoGradGuard no_grad;
  options.own.can_update_early = false;
  // The reduction in flight makes progress while backward computes.
  options.own.progress = [this] {
    if (is_travelling_) flat_.poll();
  };
  own_ = std::make_unique<SingleRank>(std::move(options.own));
  expect_same_parameters(group_, own_->parameters());
  for (const checkpoint::Piece& piece : own_->saved().pieces()) {
    comm::broadcast(group_, piece.data, 0, {.label = "first weights"}).wait();
  }
  last_.flat = flat_.make();
  ready_.flat = flat_.make();
  if (is_elastic_) mine_ = flat_.make();
}

void Delayed::begin_step(const StepPlan& plan) {
  if (is_elastic_) {
    if (const std::optional<Error> error = group_.error()) throw *error;
    first_buffers_.clear();
    for (const at::Tensor& buffer : buffers_) first_buffers_.push_back(buffer.clone());
  }
  plan_ = plan;
  commit_.begin(plan.step);
  broadcast_buffers();
  StepPlan own = plan;
  own.early.reset();
  own.is_norm_wanted = own.is_checked = false;
  own.micro_batch_count = static_cast<int>(plan.micro_batches.size());
  for (int i = 0; i < own.micro_batch_count; ++i)
    own.micro_batches[static_cast<std::size_t>(i)] = i;
  own_->begin_step(own);
}

void Delayed::broadcast_buffers() {
  for (const at::Tensor& buffer : buffers_) {
    comm::broadcast(group_, buffer, 0, {.label = "buffers"}).wait();
  }
}

// Waits for the gradients in flight.
void Delayed::land() {
  if (!is_travelling_) return;
  flat_.finish();
  is_travelling_ = false;
  traffic_ += flat_.traffic();
  last_.is_whole = true;
}

void Delayed::finish_reduction() {
  const c10::NoGradGuard no_grad;
  own_->finish_reduction();
  // This comes before the commit: if any rank completes that, all ranks have the gradients of the
  // previous step.
  land();
  Reduced reduced{.traffic = std::exchange(traffic_, {})};
  for (const Parameter& parameter : own_->parameters()) {
    reduced.flags.push_back(parameter.tensor.grad().defined());
  }
  // All ranks have the same sum.
  const bool is_first_holder = group_.rank() == 0;
  if (is_first_holder && last_.is_there && (plan_.is_norm_wanted || plan_.is_checked)) {
    reduced.squared_norm = optim::squared_norm(last_.flat);
  }
  commit_.contribute(std::move(reduced));
}

// Makes the previous step's gradients ready to be applied and sends those of this step.
void Delayed::take() {
  flat_.commit();
  std::swap(last_, ready_);
  take_gradients(flat_, last_.flat);
  last_.is_used = commit_.result().flags;
  last_.is_there = true;
  last_.is_whole = false;
  last_.step = plan_.step;
  last_.micro_batches = static_cast<int>(plan_.micro_batches.size());
  last_.micro_batch_count = plan_.micro_batch_count;
  launch();
  if (ready_.is_there) give_gradients(flat_, ready_.flat, ready_.is_used);
}

// If a rank is lost, regroup() sums these gradients again.
void Delayed::launch() {
  if (is_elastic_) mine_.copy_(last_.flat);
  if (is_surviving_) return;
  is_travelling_ = true;
  try {
    flat_.launch(last_.flat, last_.step);
  } catch (const Error& error) {
    if (!is_elastic_ || error.code() != ErrorCode::PeerLost) throw;
  }
}

void Delayed::update(const Update& how) {
  const c10::NoGradGuard no_grad;
  take();
  reach(faults_, data::kUpdating, group_.rank());
  commit_.finish();
  if (ready_.is_there) {
    own_->update(how);
  } else {
    own_->drop();
  }
}

// Gradients of this step or of the previous one were not finite. Neither are applied.
void Delayed::drop() {
  commit_.finish();
  own_->drop();
  flat_.undo();
  last_.is_there = false;
}

void Delayed::check() {
  expect_same_values(group_, own_->parameters(), group_.rank());
}

std::vector<checkpoint::Piece> Delayed::own_pieces() {
  land();
  std::vector<checkpoint::Piece> all;
  if (flat_.exchange()) all = flat_.exchange()->feedback()->pieces_once_committed();
  if (group_.rank() != 0 || !last_.is_there) return all;
  const std::vector<checkpoint::Piece> late = flat_.pieces(last_.flat, kLate);
  for (std::size_t i = 0; i < late.size(); ++i) {
    if (last_.is_used[i]) all.push_back(late[i]);
  }
  return all;
}

void Delayed::restore_own(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  land();
  last_.flat.zero_();
  last_.is_there = false;
  last_.is_whole = true;
  last_.is_used.clear();
  for (const checkpoint::Piece& piece : flat_.pieces(last_.flat, kLate)) {
    const bool is_used = from.has(piece.name);
    if (is_used) from.read_into(piece.name, piece.data);
    last_.is_used.push_back(is_used);
    last_.is_there |= is_used;
  }
  if (flat_.exchange()) flat_.exchange()->feedback()->restore(from);
}

}  // namespace trireme::parallel::local
