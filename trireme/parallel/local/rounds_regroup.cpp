// How Rounds outlives its group: what stays of a step and of a round, who gets the state.

#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "trireme/base/check.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/local/rounds.h"
#include "trireme/parallel/sameness.h"

namespace trireme::parallel::local {

void Rounds::throw_if_pointless() const {
  if (const std::optional<Error> error = apart_.replica().all.error()) throw *error;
}

void Rounds::survive(const comm::Group& group, std::vector<int> /*places*/) {
  is_surviving_ = true;
  apart_.regroup(group);
}

// What only the dead knew is of no use: their replicas are gone.
std::optional<Gradients> Rounds::recall(std::int64_t step, std::span<const Prepared> told_by) {
  if (step < 0 || standing_.step != step) return std::nullopt;
  const auto known = std::find_if(told_by.begin(), told_by.end(),
                                  [&](const Prepared& one) { return one.step == step; });
  if (known == told_by.end()) return std::nullopt;
  if (standing_.phase == Standing::Phase::Open) {
    standing_.phase = Standing::Phase::Prepared;
    standing_.prepared = *known;
  }
  return told(apart_.recall(known->figures, is_ending_));
}

std::vector<Rounds::Report> Rounds::reports(bool is_new) const {
  const comm::Group& group = apart_.replica().all;
  const bool has_state = has_state_ && !is_new;
  const std::int64_t mine[] = {has_state ? 1 : 0, done_.step,
                               static_cast<std::int64_t>(done_.occasion)};
  std::vector<std::int64_t> all(std::size(mine) * static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::Int64},
                  {mine, std::size(mine), comm::DType::Int64}, {.label = "who has the state"})
      .wait();
  std::vector<Report> reports;
  for (std::size_t at = 0; at < all.size(); at += std::size(mine)) {
    reports.push_back(
        {.has_state = all[at] != 0, .done = {all[at + 1], static_cast<Occasion>(all[at + 2])}});
  }
  return reports;
}

// All of it in the group of all: a sub-group would wait for one that has heard of another death.
void Rounds::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  // A step that is run again changes them again.
  if (standing_.phase == Standing::Phase::Open) apart_.set_buffers(first_buffers_);
  const comm::Group group = apart_.replica().all;
  const std::vector<Report> all = reports(is_new);
  take_done(all);
  for (Fragment& fragment : fragments_) fragment.regroup(group);
  if (is_overlapped()) drop_doubtful(all[static_cast<std::size_t>(group.rank())].has_state);
  share(all);
  for (Fragment& fragment : fragments_) {
    if (fragment.is_travelling()) send(fragment);
  }
  if (due_.step >= 0) do_together(due_);
  group.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
  is_surviving_ = false;
}

// What somebody has done, all have at hand; what nobody has is brought together again.
void Rounds::take_done(const std::vector<Report>& all) {
  if (due_.step < 0) return;
  const bool is_done = std::any_of(
      all.begin(), all.end(), [&](const Report& one) { return one.has_state && one.done == due_; });
  if (is_done) {
    TRIREME_CHECK(is_gathered_, "a round that another rank has ended is not here");
    take(due_);
    return own().restored();
  }
  for (Fragment& fragment : fragments_) {
    if (sends_at_once(due_)) fragment.forget();
  }
  if (due_.occasion != Occasion::Round) due_ = {};
}

// What only some have on its way, who had read it from a checkpoint when another died, all will
// read again.
void Rounds::drop_doubtful(bool has_state) {
  constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<std::int64_t> most;  // of each fragment: the last to depart, and the first, negative
  for (const Fragment& fragment : fragments_) {
    most.push_back(has_state ? fragment.launched() : kUnknown);
    most.push_back(has_state ? -fragment.launched() : kUnknown);
  }
  apart_.replica()
      .all
      .all_reduce({most.data(), most.size(), comm::DType::Int64}, comm::ReduceOp::Max,
                  {.label = "what is on its way"})
      .wait();
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    if (most[2 * i] != -most[2 * i + 1]) fragments_[i].forget();
  }
}

// Whoever has nothing gets the first one's that has: its replica, and what all have alike.
void Rounds::share(const std::vector<Report>& all) {
  const comm::Group& group = apart_.replica().all;
  const auto has_state = [](const Report& one) { return one.has_state; };
  if (std::all_of(all.begin(), all.end(), has_state)) return;
  const auto found = std::find_if(all.begin(), all.end(), has_state);
  const int source = found == all.end() ? 0 : static_cast<int>(found - all.begin());
  const bool is_given = !has_state(all[static_cast<std::size_t>(group.rank())]);
  expect_same_parameters(group, options_.replica.parameters);
  const auto give = [&](const at::Tensor& tensor) {
    // Others hear it, and keep theirs.
    const bool is_kept = !is_given && group.rank() != source;
    const at::Tensor place = is_kept ? at::empty_like(tensor) : tensor;
    comm::broadcast(group, place, source, {.label = "state"}).wait();
  };
  for (const checkpoint::Piece& piece : own().pieces()) give(piece.data);
  for (const at::Tensor& buffer : apart_.buffers()) give(buffer);
  own().restored();
  for (const Fragment& fragment : fragments_) {
    for (const at::Tensor& tensor : fragment.outer_state()) give(tensor);
  }
  std::vector<std::int64_t> said = numbers();
  group.broadcast({said.data(), said.size(), comm::DType::Int64}, source, {.label = "round"})
      .wait();
  if (is_given && group.rank() != source) go_along(said);
}

// Where this rank is in its rounds.
std::vector<std::int64_t> Rounds::numbers() const {
  std::vector<std::int64_t> all{plan_.step,
                                end_.began(),
                                is_alike_ ? 1 : 0,
                                done_.step,
                                static_cast<std::int64_t>(done_.occasion),
                                due_.step,
                                static_cast<std::int64_t>(due_.occasion),
                                turn_.has_buffers ? 1 : 0};
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    all.push_back(fragments_[i].launched());
    all.push_back(turn_.lands[i] ? 1 : 0);
    all.push_back(turn_.departs[i] ? 1 : 0);
  }
  return all;
}

void Rounds::go_along(std::span<const std::int64_t> numbers) {
  auto next = numbers.begin();
  plan_.step = *next++;
  end_.go_along(*next++);
  is_alike_ = *next++ != 0;
  for (Deed* deed : {&done_, &due_}) {
    deed->step = *next++;
    deed->occasion = static_cast<Occasion>(*next++);
  }
  turn_.has_buffers = *next++ != 0;
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    fragments_[i].go_along(*next++);
    turn_.lands[i] = *next++ != 0;
    turn_.departs[i] = *next++ != 0;
  }
}

}  // namespace trireme::parallel::local
