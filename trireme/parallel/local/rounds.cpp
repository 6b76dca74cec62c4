#include "trireme/parallel/local/rounds.h"

#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/data/elastic_data_parallel.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kAlike = "outer_alike";
constexpr const char* kReplicas = "replicas";

// What this rank exchanges: whole parameters if it holds the replica alone or if replicas are led,
// else the parts that it updates.
FlatModel::Options flat_of(const Replica& replica, FlatModel::Options options) {
  options.group = replica.across;
  if (replica.inside.size() == 1 || replica.is_led()) {
    options.parameters = replica.parameters;
    return options;
  }
  options.beside = replica.inside;
  std::map<std::string, const Parameter*> by_name;
  for (const Parameter& parameter : replica.parameters) by_name.emplace(parameter.name, &parameter);
  for (checkpoint::Piece& piece : replica.own->saved().pieces()) {
    const auto whole = by_name.find(piece.name);
    if (whole == by_name.end()) continue;
    options.parameters.push_back(part_at(*whole->second, piece.begin, std::move(piece.data)));
  }
  return options;
}

std::string replica_name(int number) {
  return "replica." + std::to_string(number);
}

std::string buffer_name(int number, std::size_t index) {
  return state_name(replica_name(number), "buffer." + std::to_string(index));
}

}  // namespace

Rounds::Rounds(Options options)
    : options_(std::move(options)),
      marks_(options_.replica.host),
      replicas_(options_.replica, options_.buffers,
                {.flag_count = 1,
                 .slack = options_.pace.slack,
                 .journal = &marks_,
                 .has_figures_in_status = true,
                 .recalls_from_all = options_.replica.is_led(),
                 .faults = options_.faults}),
      end_(options_.pace) {
  const bool has_anchor = options_.flat.codec || end_.needs_distance();
  for (FlatModel::Options& flat :
       cut_in_fragments(flat_of(options_.replica, options_.flat), options_.pace.fragments)) {
    fragments_.emplace_back(
        Fragment::Options{.flat = std::move(flat),
                          .seat = seat(),
                          .gathering = options_.gathering,
                          .pace = options_.pace,
                          .has_anchor = has_anchor,
                          .index = static_cast<std::int64_t>(fragments_.size())});
  }
  turn_ = RoundTurn(fragments_.size());
  const auto& progress = options_.replica.progress;
  if (progress && is_overlapped()) *progress = [this] { poll(); };
}

// If each rank of a replica has its own part, each receives the means of it itself, without a
// broadcast inside the replica.
Fragment::Seat Rounds::seat() const {
  const Replica& replica = replicas_.replica();
  return {.across = replica.across,
          .inside = replica.is_led() ? replica.inside : comm::Group::solo(),
          .number = replica.number(),
          .count = replica.count(),
          .is_teller = is_teller()};
}

void Rounds::begin_step(const StepPlan& plan) {
  const c10::NoGradGuard no_grad;
  if (options_.is_elastic) {
    throw_if_pointless();
    // No rank begins this step while another rank's update of the last one can still be lost.
    if (is_led()) own().model().settle();
    joined_.clear();
    first_buffers_.clear();
    for (const at::Tensor& buffer : replicas_.buffers()) first_buffers_.push_back(buffer.clone());
  }
  plan_ = plan;
  is_ending_ = is_changing_ = false;
  end_.begin_step(plan.step);
  // The distance is measured before the passes, because backward may already apply gradients.
  if (end_.is_asked_for()) is_ending_ = end_.is_wanted(end_.needs_distance() ? distance() : 0);
  replicas_.begin_step(plan);
}

// Ranks join and leave only at the end of a round, when all replicas are equal: a new rank gets the
// common state, and a rank that leaves takes nothing with it. Gossip has no such moment.
void Rounds::finish_reduction() {
  replicas_.finish_reduction({.flags = {is_ending_},
                              .can_change = is_over() || is_in_pairs(),
                              .traffic = std::exchange(traffic_, {})});
}

// What all ranks decided.
void Rounds::take_votes() {
  const CommitResult& all = replicas_.commit().result();
  is_ending_ = all.flags.at(0);
  is_changing_ = all.is_change_wanted;
}

bool Rounds::is_over() const {
  return is_ending_ || end_.is_last(plan_.step);
}

// The distance of this replica from the weights at the start of the round, relative to their norm.
double Rounds::distance() {
  double squares[] = {0, 0};
  for (Fragment& fragment : fragments_) {
    const Fragment::Squares own = fragment.squares();
    squares[0] += own.moved;
    squares[1] += own.norm;
  }
  replicas_.replica()
      .inside
      .all_reduce({squares, std::size(squares), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "distance"})
      .wait();
  return std::sqrt(squares[0] / squares[1]);
}

PassServices Rounds::passes() {
  PassServices result = replicas_.passes();
  result.interruption = options_.is_elastic ? this : nullptr;
  return result;
}

bool Rounds::begin_micro_batch(std::size_t index) {
  poll();
  return replicas_.begin_micro_batch(index);
}

void Rounds::end_micro_batch() {
  replicas_.end_micro_batch();
  poll();
}

void Rounds::poll() {
  for (Fragment& fragment : fragments_) fragment.poll();
}

void Rounds::update(const Update& how) {
  take_votes();
  reach(options_.faults, data::kUpdating, replicas_.replica().all.rank());
  replicas_.update(how);
  is_alike_ = false;
  end_step();
}

void Rounds::drop() {
  take_votes();
  replicas_.drop();
  end_step();
}

void Rounds::end_step() {
  const bool is_last = is_over();
  if (has_turns(is_last)) bring_together(Occasion::Round);
  const bool is_due = due_.step >= 0;
  const bool is_in_turns = is_overlapped() || fragments_.size() > 1;
  if (is_changing_ && is_in_turns && !is_in_pairs() && !is_due) {
    turn_ = RoundTurn(fragments_.size());
    turn_.lands.assign(fragments_.size(), true);
    bring_together(Occasion::AllAtOnce);
  }
  if (is_last) end_.ended(plan_.step);
}

// Decides which fragments depart and land in this step. Without overlap a fragment lands in the
// step in which it departs; otherwise `overlap` steps later, or earlier if ranks join or leave
// after this step, so that nothing is in flight then.
bool Rounds::has_turns(bool is_last) {
  const auto count = static_cast<std::int64_t>(fragments_.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Fragment& fragment = fragments_[at];
    const bool is_turn = i + 1 == count ? is_last : end_.is_turn(plan_.step, i, count);
    const bool is_there =
        fragment.is_travelling() && plan_.step - fragment.launched() >= options_.pace.overlap;
    const bool is_awaited = is_turn || is_changing_;
    turn_.lands[at] =
        is_overlapped() ? is_there || (is_awaited && fragment.is_travelling()) : is_turn;
    turn_.departs[at] = is_overlapped() && is_turn && !is_changing_;
  }
  turn_.has_buffers = is_last && !is_in_pairs() && !replicas_.buffers().empty();
  return turn_.is_any();
}

// The step itself is complete, so if a rank is lost here, regroup() completes the round.
void Rounds::bring_together(Occasion occasion) {
  due_ = {.step = plan_.step, .occasion = occasion};
  is_gathered_ = !is_shared();
  if (is_surviving_) return;
  try {
    do_together(due_);
  } catch (const Error& error) {
    const bool is_got_over = options_.is_elastic && error.code() == ErrorCode::PeerLost;
    if (!is_got_over) throw;
  }
}

// Whether the action that is due needs values of all ranks.
bool Rounds::is_shared() const {
  return due_.is_join() || turn_.is_any_landing() || turn_.has_buffers;
}

// If any rank passes the barrier, all ranks have everything that they need, and the live ranks can
// complete the action without further communication.
void Rounds::do_together(RoundAction action) {
  due_ = action;
  is_gathered_ = !is_shared();
  // This rank also reads values that other ranks of the replica update.
  if (is_led()) own().model().settle();
  if (is_shared()) {
    reach(options_.faults, kRoundOver, replicas_.replica().all.rank());
    gather(action);
    is_gathered_ = true;
    if (options_.is_elastic) replicas_.replica().all.barrier({.label = "round"}).wait();
    reach(options_.faults, kGathered, replicas_.replica().all.rank());
  }
  const bool is_written = is_shared();
  take(action);
  // Makes the values that were written available to all ranks of this replica.
  if (is_written) own().saved().restored();
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    if (turn_.departs[i]) send(fragments_[i]);
  }
}

void Rounds::gather(RoundAction action) {
  const c10::NoGradGuard no_grad;
  joined_.clear();
  averaged_.clear();
  if (action.is_join()) joined_ = mean_state(replicas_.replica());
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    if (!turn_.lands[i]) continue;
    if (!fragments_[i].is_travelling()) {
      fragments_[i].depart(action.step);
      send(fragments_[i]);
    }
    fragments_[i].prepare();
  }
  if (action.is_join() || turn_.has_buffers) averaged_ = replicas_.mean_of_buffers();
}

void Rounds::send(Fragment& fragment) {
  fragment.send();
  traffic_ += fragment.traffic();
}

// Completes the action on this rank, without communication.
void Rounds::take(RoundAction action) {
  const c10::NoGradGuard no_grad;
  marks_.set(action.mark());
  if (action.is_join()) write_state(replicas_.replica(), joined_);
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    if (turn_.lands[i]) {
      fragments_[i].land();
      reach(options_.faults, kLanded, replicas_.replica().all.rank());
    }
    if (turn_.departs[i]) fragments_[i].depart(action.step);
  }
  replicas_.set_buffers(averaged_);
  averaged_.clear();
  const bool is_whole = turn_.is_all_landing() && sends_at_once(action) && !is_in_pairs();
  is_alike_ |= action.is_join() || is_whole;
  done_ = std::exchange(due_, {});
}

// Whether fragments that land in this action were not in flight before it.
bool Rounds::sends_at_once(RoundAction action) const {
  return action.occasion == Occasion::AllAtOnce || !is_overlapped();
}

void Rounds::join() {
  // A round may be due that a failure interrupted; the caller must regroup() first.
  if (options_.is_elastic) throw_if_pointless();
  turn_ = RoundTurn(fragments_.size());
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    turn_.lands[i] = fragments_[i].is_travelling();
  }
  if (turn_.is_any()) do_together({.step = plan_.step, .occasion = Occasion::Arrival});
  const bool is_round = !is_alike_ && !is_in_pairs();
  if (is_round) {
    turn_.lands.assign(fragments_.size(), true);
    turn_.has_buffers = true;
    do_together({.step = plan_.step, .occasion = Occasion::AllAtOnce});
  }
  turn_ = RoundTurn(fragments_.size());
  if (!options_.is_elastic) return replicas_.join();
  const RoundAction last{.step = plan_.step, .occasion = Occasion::Join};
  if (done_ != last) do_together(last);
}

std::vector<checkpoint::Piece> Rounds::own_pieces() {
  std::vector<checkpoint::Piece> all;
  for (checkpoint::Piece& piece : own().saved().pieces()) {
    if (number() == 0) break;
    piece.name = state_name(replica_name(number()), piece.name);
    all.push_back(std::move(piece));
  }
  const bool is_speaker = number() != 0 && replicas_.replica().inside.rank() == 0;
  for (std::size_t i = 0; is_speaker && i < replicas_.buffers().size(); ++i) {
    const at::Tensor& buffer = replicas_.buffers()[i];
    all.push_back(
        {.name = buffer_name(number(), i), .shard = buffer.sizes().vec(), .data = buffer});
  }
  for (Fragment& fragment : fragments_) {
    for (checkpoint::Piece& piece : fragment.own_pieces()) all.push_back(std::move(piece));
  }
  if (is_teller()) {
    saved_alike_ = at::full({1}, is_alike_ ? 1 : 0, at::kLong);
    all.push_back({.name = state_name(kAlike, kReplicas), .shard = {{1}}, .data = saved_alike_});
  }
  return all;
}

// Every rank has already read the first replica.
void Rounds::restore_own(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  for (Fragment& fragment : fragments_) fragment.restore(from);
  for (checkpoint::Piece& piece : own().saved().pieces()) {
    piece.name = state_name(replica_name(number()), piece.name);
    if (from.has(piece.name)) from.read_into(piece);
  }
  own().saved().restored();
  for (std::size_t i = 0; i < replicas_.buffers().size(); ++i) {
    const std::string name = buffer_name(number(), i);
    if (from.has(name)) from.read_into(name, replicas_.buffers()[i]);
  }
  // If the checkpoint was written at the end of a round, the replicas are equal; combining them
  // again would run an additional outer step.
  const std::string alike = state_name(kAlike, kReplicas);
  is_alike_ = from.has(alike) && from.read(alike).item<std::int64_t>() != 0;
}

}  // namespace trireme::parallel::local
