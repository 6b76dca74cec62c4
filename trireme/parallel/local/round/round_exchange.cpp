#include "trireme/parallel/local/round/round_exchange.h"

#include <c10/core/GradMode.h>

#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::parallel::local {

void RoundExchange::begin_step(std::int64_t step) {
  step_ = step;
  joined_.clear();
}

void RoundExchange::end_round(const RoundTurn& turn) {
  if (turn.is_any()) attempt({.step = step_, .occasion = Occasion::Round}, turn);
}

void RoundExchange::flush() {
  if (due_.step >= 0) return;
  RoundTurn turn(parts_.fragments.count());
  turn.lands.assign(parts_.fragments.count(), true);
  attempt({.step = step_, .occasion = Occasion::AllAtOnce}, turn);
}

void RoundExchange::attempt(RoundAction action, const RoundTurn& turn) {
  due_ = action;
  turn_ = turn;
  is_gathered_ = !is_shared();
  if (is_paused_) return;
  try {
    perform_due();
  } catch (const Error& error) {
    if (!parts_.is_elastic || error.code() != ErrorCode::PeerLost) throw;
  }
}

void RoundExchange::perform(RoundAction action, const RoundTurn& turn) {
  due_ = action;
  turn_ = turn;
  perform_due();
}

// Whether the action that is due needs values of all ranks.
bool RoundExchange::is_shared() const {
  return due_.is_join() || turn_.is_any_landing() || turn_.has_buffers;
}

// If any rank passes the barrier, all ranks have everything that they need, and the live ranks can
// complete the action without further communication.
void RoundExchange::perform_due() {
  const bool is_written = is_shared();
  is_gathered_ = !is_written;
  GradientSync& own = *replica().own;
  // This rank also reads values that other ranks of the replica update.
  if (replica().is_led()) own.model().settle();
  if (is_written) {
    reach(parts_.faults, kRoundOver, replica().all.rank());
    gather();
    is_gathered_ = true;
    if (parts_.is_elastic) replica().all.barrier({.label = "round"}).wait();
    reach(parts_.faults, kGathered, replica().all.rank());
  }
  write();
  // Makes the values that were written available to all ranks of this replica.
  if (is_written) own.saved().restored();
  for (std::size_t i = 0; i < parts_.fragments.count(); ++i) {
    if (turn_.departs[i]) parts_.fragments.send(i);
  }
}

void RoundExchange::gather() {
  const c10::NoGradGuard no_grad;
  joined_.clear();
  averaged_.clear();
  if (due_.is_join()) {
    const Replica& own = replica();
    reduce_state({own.parameters, own.states, own.own->saved().pieces()}, own.all,
                 comm::ReduceOp::Sum, [&](const std::string& name, const at::Tensor& sum) {
                   joined_[name] = sum.div_(own.count());
                 });
  }
  for (std::size_t i = 0; i < parts_.fragments.count(); ++i) {
    if (!turn_.lands[i]) continue;
    Fragment& fragment = parts_.fragments[i];
    if (!fragment.is_travelling()) {
      fragment.depart(due_.step);
      parts_.fragments.send(i);
    }
    fragment.prepare();
  }
  if (due_.is_join() || turn_.has_buffers) averaged_ = parts_.replicas.mean_of_buffers();
}

// Completes the action that is due on this rank, without communication.
void RoundExchange::write() {
  const c10::NoGradGuard no_grad;
  parts_.marks.set(due_.mark());
  if (due_.is_join()) write_state(joined_, replica().own->saved().pieces());
  for (std::size_t i = 0; i < parts_.fragments.count(); ++i) {
    Fragment& fragment = parts_.fragments[i];
    if (turn_.lands[i]) {
      fragment.land();
      reach(parts_.faults, kLanded, replica().all.rank());
    }
    if (turn_.departs[i]) fragment.depart(due_.step);
  }
  parts_.replicas.set_buffers(averaged_);
  averaged_.clear();
  const bool is_whole =
      turn_.is_all_landing() && sends_at_once() && !parts_.fragments.is_in_pairs();
  is_alike_ |= due_.is_join() || is_whole;
  done_ = std::exchange(due_, {});
}

// Whether fragments that land in the action that is due were not in flight before it.
bool RoundExchange::sends_at_once() const {
  return due_.occasion == Occasion::AllAtOnce || !parts_.fragments.is_overlapped();
}

void RoundExchange::join() {
  const RoundTurn none(parts_.fragments.count());
  RoundTurn arrival = none;
  for (std::size_t i = 0; i < parts_.fragments.count(); ++i) {
    arrival.lands[i] = parts_.fragments[i].is_travelling();
  }
  if (arrival.is_any()) perform({.step = step_, .occasion = Occasion::Arrival}, arrival);
  if (!is_alike_ && !parts_.fragments.is_in_pairs()) {
    RoundTurn all = none;
    all.lands.assign(all.lands.size(), true);
    all.has_buffers = true;
    perform({.step = step_, .occasion = Occasion::AllAtOnce}, all);
  }
  if (!parts_.is_elastic) return parts_.replicas.join();
  const RoundAction last{.step = step_, .occasion = Occasion::Join};
  if (done_ != last) perform(last, none);
}

RoundAction RoundExchange::begun() const {
  return due_.step >= 0 && parts_.marks.has_begun(due_) ? due_ : done_;
}

void RoundExchange::settle(bool is_done) {
  if (due_.step >= 0 && is_done) {
    TRIREME_CHECK(is_gathered_, "another rank has completed a round whose values this rank lacks");
    write();
  } else if (due_.step >= 0) {
    for (Fragment& fragment : parts_.fragments) {
      if (sends_at_once()) fragment.forget();
    }
    if (due_.occasion != Occasion::Round) due_ = {};
  }
  // A failed rank may have written only a part of the averaged state, so it is written again.
  if (done_.is_join()) write_state(joined_, replica().own->saved().pieces());
}

void RoundExchange::resume() {
  if (due_.step >= 0) perform_due();
  is_paused_ = false;
}

std::vector<std::int64_t> RoundExchange::position() const {
  std::vector<std::int64_t> all{step_,
                                is_alike_ ? 1 : 0,
                                done_.step,
                                static_cast<std::int64_t>(done_.occasion),
                                due_.step,
                                static_cast<std::int64_t>(due_.occasion),
                                turn_.has_buffers ? 1 : 0};
  for (std::size_t i = 0; i < parts_.fragments.count(); ++i) {
    all.push_back(parts_.fragments[i].launched());
    all.push_back(parts_.fragments[i].is_known() ? 1 : 0);
    all.push_back(turn_.lands[i] ? 1 : 0);
    all.push_back(turn_.departs[i] ? 1 : 0);
  }
  return all;
}

void RoundExchange::follow(std::span<const std::int64_t> position) {
  auto next = position.begin();
  step_ = *next++;
  is_alike_ = *next++ != 0;
  for (RoundAction* action : {&done_, &due_}) {
    action->step = *next++;
    action->occasion = static_cast<Occasion>(*next++);
  }
  turn_.has_buffers = *next++ != 0;
  for (std::size_t i = 0; i < parts_.fragments.count(); ++i) {
    const std::int64_t launched = *next++;
    parts_.fragments[i].go_along(launched, *next++ != 0);
    turn_.lands[i] = *next++ != 0;
    turn_.departs[i] = *next++ != 0;
  }
}

}  // namespace trireme::parallel::local
