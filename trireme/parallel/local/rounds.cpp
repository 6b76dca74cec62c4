#include "trireme/parallel/local/rounds.h"

#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>

#include "trireme/base/error.h"
#include "trireme/parallel/data/elastic_data_parallel.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kAlike = "outer_alike";
constexpr const char* kReplicas = "replicas";

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
      end_(options_.pace),
      fragments_({.flat = options_.flat, .gathering = options_.gathering, .pace = options_.pace},
                 replicas_.replica()),
      exchange_({.replicas = replicas_,
                 .fragments = fragments_,
                 .marks = marks_,
                 .is_elastic = options_.is_elastic,
                 .faults = options_.faults}),
      recovery_(exchange_, end_) {
  const auto& progress = options_.replica.progress;
  if (progress && fragments_.is_overlapped()) *progress = [this] { fragments_.poll(); };
}

void Rounds::begin_step(const StepPlan& plan) {
  const c10::NoGradGuard no_grad;
  if (options_.is_elastic) begin_elastic_step();
  exchange_.begin_step(plan.step);
  is_ending_ = is_changing_ = false;
  end_.begin_step(plan.step);
  // The distance is measured before the passes, because backward may already apply gradients.
  if (end_.is_asked_for()) {
    is_ending_ = end_.is_wanted(end_.needs_distance() ? fragments_.distance() : 0);
  }
  replicas_.begin_step(plan);
}

void Rounds::begin_elastic_step() {
  throw_if_pointless();
  // No rank begins this step while another rank's update of the last one can still be lost.
  if (replicas_.replica().is_led()) replicas_.settle();
  recovery_.begin_step();
}

void Rounds::throw_if_pointless() const {
  if (const std::optional<Error> error = replicas_.replica().all.error()) throw *error;
}

PassServices Rounds::passes() {
  PassServices result = replicas_.passes();
  result.interruption = options_.is_elastic ? this : nullptr;
  return result;
}

bool Rounds::begin_micro_batch(std::size_t index) {
  fragments_.poll();
  return replicas_.begin_micro_batch(index);
}

void Rounds::end_micro_batch() {
  replicas_.end_micro_batch();
  fragments_.poll();
}

// Ranks join and leave only at the end of a round, when all replicas are equal: a new rank gets the
// common state, and a rank that leaves takes nothing with it. Gossip has no such moment.
void Rounds::finish_reduction() {
  replicas_.finish_reduction({.flags = {is_ending_},
                              .can_change = is_over() || fragments_.is_in_pairs(),
                              .traffic = fragments_.take_traffic()});
}

// What all ranks decided.
void Rounds::take_votes() {
  const CommitResult& all = replicas_.commit().result();
  is_ending_ = all.flags.at(0);
  is_changing_ = all.is_change_wanted;
}
void Rounds::update(const Update& how) {
  take_votes();
  reach(options_.faults, data::kUpdating, replicas_.replica().all.rank());
  replicas_.update(how);
  exchange_.set_alike(false);
  end_step();
}

void Rounds::drop() {
  take_votes();
  replicas_.drop();
  end_step();
}

void Rounds::end_step() {
  const bool is_last = is_over();
  exchange_.end_round(turn_of_step());
  const bool is_in_turns = fragments_.is_overlapped() || fragments_.count() > 1;
  if (is_changing_ && is_in_turns && !fragments_.is_in_pairs()) exchange_.flush();
  if (is_last) end_.ended(exchange_.step());
}

// Decides which fragments depart and land in this step. Without overlap a fragment lands in the
// step in which it departs.
RoundTurn Rounds::turn_of_step() const {
  const auto count = static_cast<std::int64_t>(fragments_.count());
  RoundTurn turn(fragments_.count());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_turn = i + 1 == count ? is_over() : end_.is_turn(exchange_.step(), i, count);
    if (fragments_.is_overlapped()) {
      turn.lands[at] = must_land(fragments_[at], is_turn);
      turn.departs[at] = is_turn && !is_changing_;
    } else {
      turn.lands[at] = is_turn;
    }
  }
  turn.has_buffers = is_over() && !fragments_.is_in_pairs() && !replicas_.buffers().empty();
  return turn;
}

// With overlap a fragment lands `overlap` steps after its departure; earlier if it departs again,
// or if ranks join or leave after this step, so that nothing is in flight then.
bool Rounds::must_land(const Fragment& fragment, bool is_turn) const {
  if (!fragment.is_travelling()) return false;
  const std::int64_t steps = exchange_.step() - fragment.launched();
  return steps >= options_.pace.overlap || is_turn || is_changing_;
}

void Rounds::join() {
  // A round may be due that a failure interrupted; the caller must regroup() first.
  if (options_.is_elastic) throw_if_pointless();
  exchange_.join();
}

void Rounds::restored() {
  replicas_.restored();
  recovery_.restored();
}

// Of this replica, under its own names.
std::vector<checkpoint::Piece> Rounds::pieces_of_replica() const {
  const Replica& replica = replicas_.replica();
  std::vector<checkpoint::Piece> all = replica.own->saved().pieces();
  for (checkpoint::Piece& piece : all) {
    piece.name = state_name(replica_name(replica.number()), piece.name);
  }
  return all;
}

std::vector<checkpoint::Piece> Rounds::own_pieces() {
  const Replica& replica = replicas_.replica();
  const bool is_model = replica.number() == 0;
  std::vector<checkpoint::Piece> all = pieces_of_replica();
  if (is_model) all.clear();
  const bool is_speaker = !is_model && replica.inside.rank() == 0;
  for (std::size_t i = 0; is_speaker && i < replicas_.buffers().size(); ++i) {
    const at::Tensor& buffer = replicas_.buffers()[i];
    all.push_back(
        {.name = buffer_name(replica.number(), i), .shard = buffer.sizes().vec(), .data = buffer});
  }
  for (Fragment& fragment : fragments_) {
    for (checkpoint::Piece& piece : fragment.own_pieces()) all.push_back(std::move(piece));
  }
  if (fragments_.role().is_saver) {
    alike_ = at::full({1}, exchange_.is_alike() ? 1 : 0, at::kLong);
    all.push_back({.name = state_name(kAlike, kReplicas), .shard = {{1}}, .data = alike_});
  }
  return all;
}

// Every rank has already read the first replica.
void Rounds::restore_own(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  const Replica& replica = replicas_.replica();
  for (Fragment& fragment : fragments_) fragment.restore(from);
  for (const checkpoint::Piece& piece : pieces_of_replica()) {
    if (from.has(piece.name)) from.read_into(piece);
  }
  replica.own->saved().restored();
  for (std::size_t i = 0; i < replicas_.buffers().size(); ++i) {
    const std::string name = buffer_name(replica.number(), i);
    if (from.has(name)) from.read_into(name, replicas_.buffers()[i]);
  }
  // If the checkpoint was written at the end of a round, the replicas are equal; combining them
  // again would run an additional outer step.
  const std::string alike = state_name(kAlike, kReplicas);
  exchange_.set_alike(from.has(alike) && from.read(alike).item<std::int64_t>() != 0);
}

}  // namespace trireme::parallel::local
