#include "trireme/parallel/local/rounds.h"

#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/data/data_parallel.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kAlike = "outer_alike";
constexpr const char* kReplicas = "replicas";

// What this rank updates: whole parameters where a replica is one rank's, else parts of them.
FlatModel::Options flat_of(const Replica& replica, FlatModel::Options options) {
  options.group = replica.across;
  if (replica.inside.size() == 1) {
    options.parameters = replica.parameters;
    return options;
  }
  options.beside = replica.inside;
  std::set<std::string> names;
  for (const Parameter& parameter : replica.parameters) names.insert(parameter.name);
  for (checkpoint::Piece& piece : replica.own->pieces()) {
    if (!names.contains(piece.name)) continue;
    const std::int64_t count = piece.data.numel();
    const bool is_whole = count == c10::multiply_integers(piece.sizes);
    options.parameters.push_back(
        {.name = piece.name, .tensor = is_whole ? piece.data.view(piece.sizes) : piece.data});
    options.parts.push_back(std::move(piece));
  }
  return options;
}

std::string replica_name(int number) {
  return "replica." + std::to_string(number);
}

}  // namespace

Rounds::Rounds(Options options)
    : options_(std::move(options)),
      apart_(options_.replica, options_.buffers, options_.pace.slack),
      end_(options_.pace) {
  const bool has_anchor = options_.flat.codec || end_.needs_distance();
  for (FlatModel::Options& flat :
       cut_in_fragments(flat_of(options_.replica, options_.flat), options_.pace.fragments)) {
    fragments_.emplace_back(Fragment::Options{.flat = std::move(flat),
                                              .gathering = options_.gathering,
                                              .pace = options_.pace,
                                              .has_anchor = has_anchor,
                                              .index = static_cast<std::int64_t>(fragments_.size()),
                                              .is_teller = is_teller()});
  }
  turns_.assign(fragments_.size(), false);
  const auto& progress = options_.replica.progress;
  if (progress && options_.pace.overlap > 0) *progress = [this] { poll(); };
}

void Rounds::begin_step(const StepPlan& plan) {
  const c10::NoGradGuard no_grad;
  if (options_.is_lasting) {
    throw_if_pointless();
    first_buffers_.clear();
    for (const at::Tensor& buffer : apart_.buffers()) first_buffers_.push_back(buffer.clone());
  }
  plan_ = plan;
  standing_.step = plan.step;
  standing_.phase = Standing::Phase::Open;
  is_ending_ = false;
  end_.begin_step(plan.step);
  // Now and not later: gradients may be applied while they are found.
  if (end_.is_asked_for()) is_ending_ = end_.is_wanted(end_.needs_distance() ? distance() : 0);
  apart_.begin_step(plan);
}

Gradients Rounds::reduce(const Share& mine) {
  const Gradients all = apart_.reduce(mine, is_ending_);
  standing_.phase = Standing::Phase::Prepared;
  standing_.prepared = {.step = plan_.step, .figures = apart_.figures()};
  reach(options_.faults, data::kPrepared, apart_.replica().all.rank());
  return told(all);
}

// At the end of a round a newcomer gets what all have, and who leaves takes nothing along.
Gradients Rounds::told(Gradients all) {
  all.traffic = std::exchange(traffic_, {});
  all.is_change_wanted &= is_over() || options_.gathering == Gathering::Pair;
  return all;
}

bool Rounds::is_over() const {
  return is_ending_ || end_.is_last(plan_.step);
}

// Of this replica from the weights at the round's beginning, as a share of their norm.
double Rounds::distance() {
  double squares[] = {0, 0};
  for (Fragment& fragment : fragments_) {
    const Fragment::Squares own = fragment.squares();
    squares[0] += own.moved;
    squares[1] += own.norm;
  }
  apart_.replica()
      .inside
      .all_reduce({squares, std::size(squares), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "distance"})
      .wait();
  return std::sqrt(squares[0] / squares[1]);
}

void Rounds::begin_slot(std::size_t index) {
  poll();
  apart_.begin_slot(index);
}

void Rounds::end_slot() {
  apart_.end_slot();
  poll();
}

void Rounds::poll() {
  for (Fragment& fragment : fragments_) fragment.poll();
}

void Rounds::update(const Update& how) {
  reach(options_.faults, data::kUpdating, apart_.replica().all.rank());
  apart_.update(how);
  is_alike_ = false;
  end_step();
}

void Rounds::drop() {
  own().drop();
  end_step();
}

void Rounds::end_step() {
  standing_.phase = Standing::Phase::Finished;
  const bool is_last = is_over();
  if (options_.pace.overlap > 0) {
    take_turns();
    if (is_last && !is_in_pairs()) apart_.set_buffers(apart_.mean_of_buffers());
  } else {
    const auto count = static_cast<std::int64_t>(fragments_.size());
    for (std::int64_t i = 0; i < count; ++i) {
      turns_[static_cast<std::size_t>(i)] =
          i + 1 == count ? is_last : end_.is_turn(plan_.step, i, count);
    }
    if (std::find(turns_.begin(), turns_.end(), true) != turns_.end()) bring_together();
  }
  if (is_last) end_.ended(plan_.step);
}

// What has travelled for long enough lands, and what has its turn goes.
void Rounds::take_turns() {
  const auto count = static_cast<std::int64_t>(fragments_.size());
  bool is_written = false;
  for (std::int64_t i = 0; i < count; ++i) {
    Fragment& fragment = fragments_[static_cast<std::size_t>(i)];
    const bool is_turn = end_.is_turn(plan_.step, i, count);
    const auto land = [&] {
      fragment.land();
      is_written = true;
    };
    const std::int64_t travelled = plan_.step - fragment.launched();
    if (fragment.is_travelling() && (is_turn || travelled >= options_.pace.overlap)) land();
    if (!is_turn) continue;
    fragment.launch(plan_.step);
    traffic_ += fragment.traffic();
  }
  // All who hold this replica see what was written.
  if (is_written) own().restored();
}

// The step is made: where somebody is lost now, regroup() does the rest.
void Rounds::bring_together() {
  due_ = {.step = plan_.step};
  if (is_surviving_) return;
  try {
    do_together(due_);
  } catch (const Error& error) {
    const bool is_got_over = options_.is_lasting && error.code() == ErrorCode::PeerLost;
    if (!is_got_over) throw;
  }
}

// If any rank passes the barrier, all have everything, and those who live can do the rest alone.
void Rounds::do_together(Deed deed) {
  due_ = deed;
  is_gathered_ = false;
  reach(options_.faults, kRoundOver, apart_.replica().all.rank());
  gather(deed);
  is_gathered_ = true;
  if (options_.is_lasting) apart_.replica().all.barrier({.label = "round"}).wait();
  reach(options_.faults, kGathered, apart_.replica().all.rank());
  take(deed);
}

void Rounds::gather(Deed deed) {
  const c10::NoGradGuard no_grad;
  joined_.clear();
  averaged_.clear();
  if (deed.is_join()) {
    for (const checkpoint::Piece& piece : own().pieces()) {
      joined_.push_back(piece.data.clone());
      comm::all_reduce(apart_.replica().across, joined_.back(), comm::ReduceOp::Mean,
                       {.label = "average"})
          .wait();
    }
  } else {
    for (std::size_t i = 0; i < fragments_.size(); ++i) {
      if (!turns_[i]) continue;
      fragments_[i].land();
      fragments_[i].launch(deed.step);
      fragments_[i].arrive();
    }
  }
  // The last one's turn is the round's end.
  const bool is_end = turns_.back() && !is_in_pairs();
  if (deed.is_join() || is_end) averaged_ = apart_.mean_of_buffers();
}

void Rounds::take(Deed deed) {
  const c10::NoGradGuard no_grad;
  const std::vector<checkpoint::Piece> pieces = own().pieces();
  for (std::size_t i = 0; i < joined_.size(); ++i) pieces[i].data.copy_(joined_[i]);
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    if (deed.is_join() || !turns_[i]) continue;
    fragments_[i].land();
    traffic_ += fragments_[i].traffic();
  }
  own().restored();
  apart_.set_buffers(averaged_);
  joined_.clear();
  averaged_.clear();
  const bool is_all = std::find(turns_.begin(), turns_.end(), false) == turns_.end();
  is_alike_ = deed.is_join() || (is_all && !is_in_pairs());
  done_ = std::exchange(due_, {});
}

void Rounds::land_all() {
  for (Fragment& fragment : fragments_) fragment.land();
  own().restored();
}

void Rounds::join() {
  // A round may be due that was cut short: regroup() comes first.
  if (options_.is_lasting) throw_if_pointless();
  if (is_in_pairs()) land_all();
  const bool is_round = !is_alike_ && !is_in_pairs();
  if (is_round) {
    turns_.assign(turns_.size(), true);
    do_together({.step = plan_.step, .occasion = Occasion::LastRound});
  }
  if (!options_.is_lasting) return apart_.join();
  const Deed last{.step = plan_.step, .occasion = Occasion::Join};
  if (done_ != last) do_together(last);
}

std::vector<checkpoint::Piece> Rounds::own_pieces() {
  std::vector<checkpoint::Piece> all;
  for (checkpoint::Piece& piece : own().pieces()) {
    if (number() == 0) break;
    piece.name = state_name(replica_name(number()), piece.name);
    all.push_back(std::move(piece));
  }
  for (Fragment& fragment : fragments_) {
    for (checkpoint::Piece& piece : fragment.own_pieces()) all.push_back(std::move(piece));
  }
  if (is_teller()) {
    saved_alike_ = at::full({1}, is_alike_ ? 1 : 0, at::kLong);
    all.push_back({.name = state_name(kAlike, kReplicas), .sizes = {1}, .data = saved_alike_});
  }
  return all;
}

// Everybody has the first replica now.
void Rounds::restore_own(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  for (Fragment& fragment : fragments_) fragment.restore(from);
  for (const checkpoint::Piece& piece : own().pieces()) {
    const std::string name = state_name(replica_name(number()), piece.name);
    if (from.has(name)) from.read(name, piece.begin, piece.data.numel(), piece.data);
  }
  own().restored();
  // At the end of a round there is nothing to bring together, and an outer step would be one too
  // many.
  const std::string alike = state_name(kAlike, kReplicas);
  is_alike_ = from.has(alike) && from.read(alike).item<std::int64_t>() != 0;
}

}  // namespace trireme::parallel::local
