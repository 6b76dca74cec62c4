#include "trireme/parallel/local/rounds.h"

#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>
#include <c10/util/accumulate.h>

#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "trireme/parallel/data/slice_plan.h"

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
  std::set<std::string> names;
  for (const Parameter& parameter : replica.parameters) names.insert(parameter.name);
  for (checkpoint::Piece& piece : replica.own->pieces()) {
    if (!names.contains(piece.name)) continue;
    const std::int64_t count = piece.data.numel();
    const bool is_whole = count == c10::multiply_integers(piece.sizes);
    options.parameters.push_back(
        {.name = is_whole ? piece.name : data::name_of_part(piece.name, piece.begin, count),
         .tensor = is_whole ? piece.data.view(piece.sizes) : piece.data});
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
  const auto& progress = options_.replica.progress;
  if (progress && options_.pace.overlap > 0) *progress = [this] { poll(); };
}

void Rounds::begin_step(const StepPlan& plan) {
  const c10::NoGradGuard no_grad;
  plan_ = plan;
  is_ending_ = false;
  end_.begin_step(plan.step);
  // Now and not later: gradients may be applied while they are found.
  if (end_.is_asked_for()) is_ending_ = end_.is_wanted(end_.needs_distance() ? distance() : 0);
  apart_.begin_step(plan);
}

Gradients Rounds::reduce(const Share& mine) {
  Gradients all = apart_.reduce(mine, is_ending_);
  all.traffic = std::exchange(traffic_, {});
  return all;
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
  apart_.update(how);
  is_alike_ = false;
  end_step();
}

void Rounds::drop() {
  own().drop();
  end_step();
}

void Rounds::end_step() {
  const bool is_over = is_ending_ || end_.is_last(plan_.step);
  if (options_.pace.is_streamed()) {
    take_turns();
    if (is_over && !is_in_pairs()) apart_.average_buffers();
  } else if (is_over) {
    bring_together();
  }
  if (is_over) end_.ended(plan_.step);
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
    if (options_.pace.overlap == 0) land();
  }
  // All who hold this replica see what was written.
  if (is_written) own().restored();
}

void Rounds::bring_together() {
  for (Fragment& fragment : fragments_) {
    fragment.land();
    fragment.launch(plan_.step);
    fragment.land();
    traffic_ += fragment.traffic();
  }
  own().restored();
  if (is_in_pairs()) return;
  apart_.average_buffers();
  is_alike_ = true;
}

void Rounds::join() {
  if (is_in_pairs()) {
    for (Fragment& fragment : fragments_) fragment.land();
  } else if (!is_alike_) {
    bring_together();
  }
  apart_.join();
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
