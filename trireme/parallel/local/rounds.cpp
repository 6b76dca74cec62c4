#include "trireme/parallel/local/rounds.h"

#include <c10/core/GradMode.h>
#include <c10/util/accumulate.h>

#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/data/slice_plan.h"
#include "trireme/parallel/local/pairing.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kAnchor = "outer_anchor";
constexpr const char* kMomentum = "outer_momentum";
constexpr std::uint32_t kPairTag = 0x90551;

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
      apart_(options_.replica, options_.buffers),
      flat_(flat_of(options_.replica, options_.flat)),
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
  const c10::NoGradGuard no_grad;
  flat_.read_values(work_);
  double squares[] = {optim::squared_norm(work_.sub_(anchor_)), optim::squared_norm(anchor_)};
  apart_.replica()
      .inside
      .all_reduce({squares, std::size(squares), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "distance"})
      .wait();
  return std::sqrt(squares[0] / squares[1]);
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
  if (!is_ending_ && !end_.is_last(plan_.step)) return;
  bring_together();
  end_.ended(plan_.step);
}

void Rounds::bring_together() {
  const c10::NoGradGuard no_grad;
  if (options_.gathering == Gathering::Pair) return meet_partner();
  flat_.read_values(work_);
  if (anchor_.defined()) work_.neg_().add_(anchor_);
  flat_.sum(work_, plan_.step);
  work_.div_(across().size());
  traffic_ += flat_.traffic();
  if (anchor_.defined()) {
    step_outside();
  } else {
    write_values(work_);
  }
  apart_.average_buffers();
  is_alike_ = true;
}

// All who hold this replica see them afterwards.
void Rounds::write_values(const at::Tensor& flat) {
  flat_.write_values(flat);
  own().restored();
}

// work_ is how far the replicas have come, on average, backwards: a gradient.
void Rounds::step_outside() {
  if (momentum_.defined()) {
    momentum_.mul_(options_.pace.outer_momentum).add_(work_);
    work_.add_(momentum_, options_.pace.outer_momentum);
  }
  anchor_.sub_(work_, options_.pace.outer_rate);
  write_values(anchor_);
}

void Rounds::meet_partner() {
  const Round round{.seed = options_.flat.seed, .number = plan_.step};
  const int own_number = across().rank();
  const int other = partners_of(across().size(), round)[static_cast<std::size_t>(own_number)];
  if (other == own_number) return;
  flat_.read_values(work_);
  auto sent = comm::send(across(), work_, other, kPairTag, {.label = "weights"});
  auto received = comm::receive(across(), partner_, other, kPairTag, {.label = "weights"});
  sent.wait();
  received.wait();
  const auto size = static_cast<std::int64_t>(work_.nbytes());
  traffic_ += {.plain = size, .sent = size};
  // The same bits on both, in whichever order they are added.
  write_values(work_.add_(partner_).mul_(0.5));
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
  const bool is_first = across().rank() == 0;
  for (checkpoint::Piece& piece : own().pieces()) {
    if (is_first) break;
    piece.name = state_name(replica_name(across().rank()), piece.name);
    all.push_back(std::move(piece));
  }
  // The same for all replicas.
  if (anchor_.defined() && is_first) add(flat_.pieces(anchor_, kAnchor));
  if (momentum_.defined() && is_first) add(flat_.pieces(momentum_, kMomentum));
  if (flat_.exchange()) add(flat_.exchange()->own_pieces());
  return all;
}

// Everybody has the first replica now.
void Rounds::restore_own(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  if (anchor_.defined()) {
    flat_.read_values(anchor_);
    flat_.restore(anchor_, kAnchor, from);
  }
  if (momentum_.defined() && !flat_.restore(momentum_, kMomentum, from)) momentum_.zero_();
  for (const checkpoint::Piece& piece : own().pieces()) {
    const std::string name = state_name(replica_name(across().rank()), piece.name);
    if (from.has(name)) from.read(name, piece.begin, piece.data.numel(), piece.data);
  }
  own().restored();
  if (flat_.exchange()) flat_.exchange()->restore(from);
  is_alike_ = false;
}

}  // namespace trireme::parallel::local
