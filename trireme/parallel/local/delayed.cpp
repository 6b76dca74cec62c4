#include "trireme/parallel/local/delayed.h"

#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/local/common_step.h"
#include "trireme/parallel/sameness.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kLate = "late_gradient";

}  // namespace

Delayed::Delayed(Options options)
    : group_(options.flat.group), buffers_(std::move(options.buffers)), flat_(options.flat) {
  const c10::NoGradGuard no_grad;
  options.own.can_update_early = false;
  // What is on its way moves on while backward computes.
  options.own.progress = [this] {
    if (is_travelling_) flat_.poll();
  };
  own_ = std::make_unique<Solo>(std::move(options.own));
  expect_same_parameters(group_, own_->parameters());
  for (const checkpoint::Piece& piece : own_->pieces()) {
    comm::broadcast(group_, piece.data, 0, {.label = "first weights"}).wait();
  }
  last_.flat = flat_.make();
  ready_.flat = flat_.make();
}

void Delayed::begin_step(const StepPlan& plan) {
  plan_ = plan;
  broadcast_buffers();
  StepPlan own = plan;
  own.early.reset();
  own.slot_count = static_cast<int>(plan.slots.size());
  for (int i = 0; i < own.slot_count; ++i) own.slots[static_cast<std::size_t>(i)] = i;
  own_->begin_step(own);
}

void Delayed::broadcast_buffers() {
  for (const at::Tensor& buffer : buffers_) {
    comm::broadcast(group_, buffer, 0, {.label = "buffers"}).wait();
  }
}

// Waits for what is on its way.
void Delayed::land() {
  if (std::exchange(is_travelling_, false)) flat_.finish();
}

Gradients Delayed::reduce(const Share& mine) {
  const c10::NoGradGuard no_grad;
  own_->reduce({.loss = mine.loss});
  Figures figures = common_figures(group_, own_->parameters(), mine);
  land();
  std::swap(last_, ready_);
  take_gradients(flat_, last_.flat);
  last_.is_used = std::move(figures.is_used);
  last_.is_there = true;
  flat_.launch(last_.flat, plan_.step);
  is_travelling_ = true;
  Gradients all = figures.all;
  all.traffic = flat_.traffic();
  if (ready_.is_there) {
    give_gradients(flat_, ready_.flat, ready_.is_used);
    if (plan_.is_norm_wanted || plan_.is_checked) {
      all.norm = std::sqrt(optim::squared_norm(ready_.flat));
      all.is_finite = std::isfinite(all.norm);
    }
  }
  return all;
}

double Delayed::total(double mine) {
  group_
      .all_reduce({&mine, 1, comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "total", .priority = 1})
      .wait();
  return mine;
}

void Delayed::update(const Update& how) {
  if (ready_.is_there) {
    own_->update(how);
  } else {
    own_->drop();
  }
}

// Whatever was not finite, this step's gradients or the last one's: none of them is applied.
void Delayed::drop() {
  own_->drop();
  last_.is_there = false;
}

void Delayed::check() {
  expect_same_values(group_, own_->parameters(), group_.rank());
}

std::vector<checkpoint::Piece> Delayed::own_pieces() {
  land();
  std::vector<checkpoint::Piece> all;
  if (flat_.exchange()) all = flat_.exchange()->own_pieces();
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
  last_.is_used.clear();
  for (const checkpoint::Piece& piece : flat_.pieces(last_.flat, kLate)) {
    const bool is_used = from.has(piece.name);
    if (is_used) from.read_into(piece.name, piece.data);
    last_.is_used.push_back(is_used);
    last_.is_there |= is_used;
  }
  if (flat_.exchange()) flat_.exchange()->restore(from);
}

}  // namespace trireme::parallel::local
