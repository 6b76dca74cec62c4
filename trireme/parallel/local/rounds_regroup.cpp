// How Rounds outlives its group: what stays of a step and of a round, who gets the state.

#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <iterator>

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
  share(all);
  if (due_.step >= 0) do_together(due_);
  group.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
  is_surviving_ = false;
}

// A round that somebody has ended, all have at hand; one that nobody has is brought together again.
void Rounds::take_done(const std::vector<Report>& all) {
  if (due_.step < 0) return;
  const bool is_done = std::any_of(
      all.begin(), all.end(), [&](const Report& one) { return one.has_state && one.done == due_; });
  if (is_done) {
    TRIREME_CHECK(is_gathered_, "a round that another rank has ended is not here");
    return take(due_);
  }
  for (Fragment& fragment : fragments_) fragment.forget();
  if (due_.occasion != Occasion::Round) due_ = {};
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
  std::vector<std::int64_t> numbers{plan_.step,
                                    end_.began(),
                                    is_alike_ ? 1 : 0,
                                    done_.step,
                                    static_cast<std::int64_t>(done_.occasion),
                                    due_.step,
                                    static_cast<std::int64_t>(due_.occasion)};
  const std::size_t head = numbers.size();
  numbers.insert(numbers.end(), turns_.begin(), turns_.end());
  group.broadcast({numbers.data(), numbers.size(), comm::DType::Int64}, source, {.label = "round"})
      .wait();
  if (!is_given || group.rank() == source) return;
  plan_.step = numbers[0];
  end_.go_along(numbers[1]);
  is_alike_ = numbers[2] != 0;
  done_ = {numbers[3], static_cast<Occasion>(numbers[4])};
  due_ = {numbers[5], static_cast<Occasion>(numbers[6])};
  turns_.assign(numbers.begin() + static_cast<std::ptrdiff_t>(head), numbers.end());
}

}  // namespace trireme::parallel::local
