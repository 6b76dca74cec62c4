// The recovery of Rounds: it continues with a new group, completes the step and the round that a
// failure interrupted, and sends the state to new ranks.

#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "trireme/base/check.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/elastic_data_parallel.h"
#include "trireme/parallel/local/rounds.h"
#include "trireme/parallel/whole_state.h"

namespace trireme::parallel::local {
void Rounds::throw_if_pointless() const {
  if (const std::optional<Error> error = replicas_.replica().all.error()) throw *error;
}

void Rounds::survive(const comm::Group& group, std::vector<int> places) {
  is_surviving_ = true;
  marks_.read();
  replicas_.regroup(group, places);
}

void Rounds::finish_failed_ranks() {
  if (is_led()) replicas_.replica().host->finish_failed_ranks();
}

std::vector<Rounds::Report> Rounds::reports(bool is_new) const {
  const comm::Group& group = replicas_.replica().all;
  const bool has_state = has_state_ && !is_new;
  // If a failed rank of this replica began to write the action that is due, the action counts as
  // done, and all ranks complete it.
  const RoundAction done = due_.step >= 0 && marks_.has_begun(due_) ? due_ : done_;
  const std::int64_t mine[] = {has_state ? 1 : 0, done.step,
                               static_cast<std::int64_t>(done.occasion)};
  std::vector<std::int64_t> all(std::size(mine) * static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::Int64},
                  {mine, std::size(mine), comm::DType::Int64}, {.label = "state reports"})
      .wait();
  std::vector<Report> reports;
  for (std::size_t at = 0; at < all.size(); at += std::size(mine)) {
    reports.push_back(
        {.has_state = all[at] != 0, .done = {all[at + 1], static_cast<Occasion>(all[at + 2])}});
  }
  return reports;
}

// All communication between replicas here uses the group of all ranks. In a subgroup that shares
// memory, ranks would wait for a rank that has already stopped because of another death.
void Rounds::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  // The step will run again and will change the buffers again.
  const bool is_open = replicas_.commit().status().phase == StepStatus::Phase::Open;
  if (is_open) replicas_.set_buffers(first_buffers_);
  const comm::Group group = replicas_.replica().all;
  if (is_led()) replicas_.replica().host->regroup(is_new);
  const std::vector<Report> all = reports(is_new);
  take_done(all);
  // A failed rank may have written only a part of the averaged state, so it is written again.
  if (done_.is_join()) write_state(replicas_.replica(), joined_);
  own().saved().pieces();  // creates the pieces of a new rank; a collective of its host
  own().saved().restored();
  for (Fragment& fragment : fragments_) fragment.regroup(seat());
  if (is_overlapped()) drop_doubtful(all[static_cast<std::size_t>(group.rank())].has_state);
  share(all);
  for (Fragment& fragment : fragments_) {
    if (fragment.is_travelling() && !fragment.is_known()) send(fragment);
  }
  if (due_.step >= 0) do_together(due_);
  group.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
  is_surviving_ = false;
}

// If any rank has completed the action that is due, all ranks have what it needs and complete it,
// too. Otherwise it starts again from the beginning.
void Rounds::take_done(const std::vector<Report>& all) {
  if (due_.step < 0) return;
  const bool is_done = std::any_of(
      all.begin(), all.end(), [&](const Report& one) { return one.has_state && one.done == due_; });
  if (is_done) {
    TRIREME_CHECK(is_gathered_, "another rank has completed a round whose values this rank lacks");
    return take(due_);
  }
  for (Fragment& fragment : fragments_) {
    if (sends_at_once(due_)) fragment.forget();
  }
  if (due_.occasion != Occasion::Round) due_ = {};
}

// Gives up fragments that are not in flight equally on all ranks. This happens if a rank died while
// a checkpoint was being read, and then all ranks will read it again.
void Rounds::drop_doubtful(bool has_state) {
  constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<std::int64_t> most;  // by fragment: the latest departure, and the earliest, negated
  for (const Fragment& fragment : fragments_) {
    const std::int64_t flight = 2 * fragment.launched() + (fragment.is_known() ? 1 : 0);
    most.push_back(has_state ? flight : kUnknown);
    most.push_back(has_state ? -flight : kUnknown);
  }
  replicas_.replica()
      .all
      .all_reduce({most.data(), most.size(), comm::DType::Int64}, comm::ReduceOp::Max,
                  {.label = "fragments in flight"})
      .wait();
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    if (most[2 * i] != -most[2 * i + 1]) fragments_[i].forget();
  }
}

// A replica of which no rank has a state gets a copy of the first replica that has one. A new rank
// of an existing replica gets the position in the round and the outer state from its other ranks.
void Rounds::share(const std::vector<Report>& all) {
  const Replica& replica = replicas_.replica();
  const auto has_state = [](const Report& one) { return one.has_state; };
  if (std::all_of(all.begin(), all.end(), has_state)) return;
  expect_same_parameters(replica.all, replica.parameters);
  const auto found = std::find_if(all.begin(), all.end(), has_state);
  const int source = found == all.end() ? 0 : static_cast<int>(found - all.begin());
  std::vector<int> first(static_cast<std::size_t>(replica.count()),
                         -1);  // by replica: its first rank with a state
  for (int rank = replica.all.size(); rank-- > 0;) {
    const auto at = static_cast<std::size_t>(rank);
    if (all[at].has_state) first[static_cast<std::size_t>(replica.numbers[at])] = rank;
  }
  const int own_first = first[static_cast<std::size_t>(replica.number())];
  if (std::find(first.begin(), first.end(), -1) != first.end()) {
    give_replica(source, own_first < 0);
    give_outer(replica.all, source, own_first < 0);
  }
  if (own_first < 0) return;
  const auto at = std::find(replica.members.begin(), replica.members.end(), own_first);
  give_outer(replica.inside, static_cast<int>(at - replica.members.begin()),
             !has_state(all[static_cast<std::size_t>(replica.all.rank())]));
}

// Copies weights, optimizer state and buffers of the source's replica.
void Rounds::give_replica(int source, bool is_given) {
  const Replica& replica = replicas_.replica();
  give_state(replica, source, is_given);
  for (const at::Tensor& buffer : replicas_.buffers()) give(replica.all, buffer, source, is_given);
  if (is_given) own().saved().restored();
}

// Copies the outer state, the values that the source has sent, and its position in the round.
void Rounds::give_outer(const comm::Group& group, int source, bool is_given) {
  for (const Fragment& fragment : fragments_) {
    for (const at::Tensor& tensor : fragment.outer_state()) give(group, tensor, source, is_given);
  }
  std::vector<std::int64_t> said = numbers();
  group.broadcast({said.data(), said.size(), comm::DType::Int64}, source, {.label = "round"})
      .wait();
  if (is_given && group.rank() != source) go_along(said);
}

// This rank's position in its rounds, as go_along() reads it.
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
    all.push_back(fragments_[i].is_known() ? 1 : 0);
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
  for (RoundAction* action : {&done_, &due_}) {
    action->step = *next++;
    action->occasion = static_cast<Occasion>(*next++);
  }
  turn_.has_buffers = *next++ != 0;
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    const std::int64_t launched = *next++;
    fragments_[i].go_along(launched, *next++ != 0);
    turn_.lands[i] = *next++ != 0;
    turn_.departs[i] = *next++ != 0;
  }
}

}  // namespace trireme::parallel::local
