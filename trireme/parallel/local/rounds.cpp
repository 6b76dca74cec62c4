#include "trireme/parallel/local/rounds.h"

#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/local/common_step.h"
#include "trireme/parallel/local/pairing.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kAnchor = "outer_anchor";
constexpr const char* kMomentum = "outer_momentum";
constexpr std::uint32_t kPairTag = 0x90551;

}  // namespace

Rounds::Rounds(Options options)
    : options_(std::move(options)),
      own_(options_.own),
      group_(options_.flat.group),
      apart_(own_, options_.buffers, group_),
      flat_(options_.flat),
      end_(options_.pace) {
  const c10::NoGradGuard no_grad;
  work_ = flat_.make();
  if (options_.gathering == Gathering::Pair) partner_ = flat_.make();
  if (options_.gathering == Gathering::Outer || options_.flat.codec || end_.needs_distance()) {
    anchor_ = flat_.make();
    flat_.read_values(anchor_);
  }
  if (options_.pace.outer_momentum > 0) momentum_ = flat_.make();
}

void Rounds::begin_step(const StepPlan& plan) {
  const c10::NoGradGuard no_grad;
  plan_ = plan;
  is_ending_ = false;
  end_.begin_step(plan.step);
  if (plan.step == options_.pace.begin && plan.step > 0 && anchor_.defined()) {
    flat_.read_values(anchor_);
  }
  if (!is_common()) {
    // Now and not later: gradients may be applied while they are found.
    if (end_.is_asked_for()) is_ending_ = end_.is_wanted(end_.needs_distance() ? distance() : 0);
    return apart_.begin_step(plan);
  }
  StepPlan own = plan;
  own.early.reset();
  own.slot_count = static_cast<int>(plan.slots.size());
  for (int i = 0; i < own.slot_count; ++i) own.slots[static_cast<std::size_t>(i)] = i;
  own_->begin_step(own);
}

Gradients Rounds::reduce(const Share& mine) {
  Gradients all = is_common() ? reduce_common(mine) : apart_.reduce(mine, is_ending_);
  all.traffic = std::exchange(traffic_, {});
  return all;
}

Gradients Rounds::reduce_common(const Share& mine) {
  const c10::NoGradGuard no_grad;
  own_->reduce({.loss = mine.loss});
  const Figures figures = common_figures(group_, own_->parameters(), mine);
  take_gradients(flat_, work_);
  flat_.sum(work_, plan_.step);
  traffic_ = flat_.traffic();
  give_gradients(flat_, work_, figures.is_used);
  Gradients all = figures.all;
  if (plan_.is_norm_wanted || plan_.is_checked) {
    all.norm = std::sqrt(optim::squared_norm(work_));
    all.is_finite = std::isfinite(all.norm);
  }
  return all;
}

// Of this replica from the weights at the round's beginning, as a share of their norm.
double Rounds::distance() {
  const c10::NoGradGuard no_grad;
  flat_.read_values(work_);
  const double moved = optim::squared_norm(work_.sub_(anchor_));
  return std::sqrt(moved / optim::squared_norm(anchor_));
}

void Rounds::update(const Update& how) {
  if (is_common()) return own_->update(how);
  apart_.update(how);
  is_alike_ = false;
  end_step();
}

void Rounds::drop() {
  own_->drop();
  end_step();
}

void Rounds::end_step() {
  if (is_common() || (!is_ending_ && !end_.is_last(plan_.step))) return;
  bring_together();
  end_.ended(plan_.step);
}

void Rounds::bring_together() {
  const c10::NoGradGuard no_grad;
  if (options_.gathering == Gathering::Pair) return meet_partner();
  flat_.read_values(work_);
  if (anchor_.defined()) work_.neg_().add_(anchor_);
  flat_.sum(work_, plan_.step);
  work_.div_(group_.size());
  traffic_ += flat_.traffic();
  if (anchor_.defined()) {
    step_outside();
  } else {
    flat_.write_values(work_);
  }
  average_buffers();
  is_alike_ = true;
}

// work_ is how far the replicas have come, on average, backwards: a gradient.
void Rounds::step_outside() {
  if (momentum_.defined()) {
    momentum_.mul_(options_.pace.outer_momentum).add_(work_);
    work_.add_(momentum_, options_.pace.outer_momentum);
  }
  anchor_.sub_(work_, options_.pace.outer_rate);
  flat_.write_values(anchor_);
}

void Rounds::meet_partner() {
  const Round round{.seed = options_.flat.seed, .number = plan_.step};
  const int other = partners_of(group_.size(), round)[static_cast<std::size_t>(group_.rank())];
  if (other == group_.rank()) return;
  flat_.read_values(work_);
  auto sent = comm::send(group_, work_, other, kPairTag, {.label = "weights"});
  auto received = comm::receive(group_, partner_, other, kPairTag, {.label = "weights"});
  sent.wait();
  received.wait();
  const auto size = static_cast<std::int64_t>(work_.nbytes());
  traffic_ += {.plain = size, .sent = size};
  // The same bits on both, in whichever order they are added.
  flat_.write_values(work_.add_(partner_).mul_(0.5));
}

void Rounds::average_buffers() {
  for (const at::Tensor& buffer : options_.buffers) {
    if (buffer.is_floating_point()) {
      comm::all_reduce(group_, buffer, comm::ReduceOp::Mean, {.label = "buffers"}).wait();
    } else {
      comm::broadcast(group_, buffer, 0, {.label = "buffers"}).wait();
    }
  }
}

void Rounds::join() {
  if (!is_alike_ && options_.gathering != Gathering::Pair) bring_together();
  apart_.join();
}

std::vector<checkpoint::Piece> Rounds::own_pieces() {
  std::vector<checkpoint::Piece> all;
  const auto add = [&all](std::vector<checkpoint::Piece> more) {
    for (checkpoint::Piece& piece : more) all.push_back(std::move(piece));
  };
  const std::string replica = "replica." + std::to_string(group_.rank());
  for (checkpoint::Piece& piece : own_->pieces()) {
    if (group_.rank() == 0) break;
    piece.name = state_name(replica, piece.name);
    all.push_back(std::move(piece));
  }
  // The same on all ranks.
  if (anchor_.defined() && group_.rank() == 0) add(flat_.pieces(anchor_, kAnchor));
  if (momentum_.defined() && group_.rank() == 0) add(flat_.pieces(momentum_, kMomentum));
  if (flat_.exchange()) add(flat_.exchange()->own_pieces());
  return all;
}

// Every rank has rank 0's replica now.
void Rounds::restore_own(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  if (anchor_.defined()) {
    flat_.read_values(anchor_);
    flat_.restore(anchor_, kAnchor, from);
  }
  if (momentum_.defined() && !flat_.restore(momentum_, kMomentum, from)) momentum_.zero_();
  const std::string replica = "replica." + std::to_string(group_.rank());
  for (const checkpoint::Piece& piece : own_->pieces()) {
    const std::string name = state_name(replica, piece.name);
    if (from.has(name)) from.read(name, piece.begin, piece.data.numel(), piece.data);
  }
  if (flat_.exchange()) flat_.exchange()->restore(from);
  is_alike_ = false;
}

}  // namespace trireme::parallel::local
