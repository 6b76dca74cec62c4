#include "trireme/parallel/local/round/round_recovery.h"

#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/elastic_data_parallel.h"
#include "trireme/parallel/whole_state.h"

namespace trireme::parallel::local {
namespace {

// Broadcasts a tensor to the ranks with is_given. The other ranks take part in the collective, but
// keep their own values.
void give(const comm::Group& group, const at::Tensor& tensor, int source, bool is_given) {
  const bool is_kept = !is_given && group.rank() != source;
  const at::Tensor place = is_kept ? at::empty_like(tensor) : tensor;
  comm::broadcast(group, place, source, {.label = "state"}).wait();
}

}  // namespace

void RoundRecovery::survive(const comm::Group& group, std::vector<int> places) {
  exchange_.pause();
  parts_.marks.read();
  parts_.replicas.regroup(group, places);
}

void RoundRecovery::finish_failed_ranks() {
  if (replica().is_led()) replica().host->finish_failed_ranks();
}

void RoundRecovery::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  // The step will run again and will change the buffers again.
  if (parts_.replicas.commit().status().phase == StepStatus::Phase::Open) buffers_.undo();
  if (replica().is_led()) replica().host->regroup(is_new);
  const StateReports all = reports(is_new);
  exchange_.settle(is_due_action_done(all));
  replica().own->saved().pieces();  // creates the pieces of a new rank; a collective of its host
  replica().own->saved().restored();
  parts_.fragments.regroup();
  if (parts_.fragments.is_overlapped()) {
    parts_.fragments.drop_doubtful(all.has_state(replica().all.rank()));
  }
  share(all);
  parts_.fragments.send_again();
  exchange_.resume();
  replica().all.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
}

StateReports RoundRecovery::reports(bool is_new) const {
  const RoundAction done = exchange_.begun();
  const std::int64_t mine[] = {done.step, static_cast<std::int64_t>(done.occasion)};
  return StateReports::exchange(replica().all, has_state_ && !is_new, mine);
}

// If any rank has completed the action that is due, all ranks have what it needs.
bool RoundRecovery::is_due_action_done(const StateReports& all) const {
  for (int rank = 0; rank < all.ranks(); ++rank) {
    const auto numbers = all.numbers(rank);
    const RoundAction done{.step = numbers[0], .occasion = static_cast<Occasion>(numbers[1])};
    if (all.has_state(rank) && done == exchange_.due()) return true;
  }
  return false;
}

// A replica of which no rank has a state gets a copy of the first replica that has one. A new rank
// of an existing replica gets the position in the round and the outer state from its other ranks.
void RoundRecovery::share(const StateReports& all) {
  if (all.have_all_state()) return;
  expect_same_parameters(replica().all, replica().parameters);
  const std::vector<int> first = first_ranks(all);
  const int own_first = first[static_cast<std::size_t>(replica().number())];
  if (std::find(first.begin(), first.end(), -1) != first.end()) {
    give_replica(all.source(), own_first < 0);
    give_outer(replica().all, all.source(), own_first < 0);
  }
  if (own_first < 0) return;
  const std::vector<int>& members = replica().members;
  const auto at = std::find(members.begin(), members.end(), own_first);
  give_outer(replica().inside, static_cast<int>(at - members.begin()),
             !all.has_state(replica().all.rank()));
}

// By replica: its first rank with a state; -1 if it has none.
std::vector<int> RoundRecovery::first_ranks(const StateReports& all) const {
  std::vector<int> first(static_cast<std::size_t>(replica().count()), -1);
  for (int rank = all.ranks(); rank-- > 0;) {
    const int number = replica().numbers[static_cast<std::size_t>(rank)];
    if (all.has_state(rank)) first[static_cast<std::size_t>(number)] = rank;
  }
  return first;
}

// Copies weights, optimizer state and buffers of the source's replica. Its ranks may hold different
// parts of it, so tensors are sent whole, one after the other.
void RoundRecovery::give_replica(int source, bool is_given) {
  const Replica& own = replica();
  const bool is_source = own.number() == own.numbers[static_cast<std::size_t>(source)];
  const std::vector<checkpoint::Piece> pieces = own.own->saved().pieces();
  reduce_state({own.parameters, own.states, is_source ? pieces : std::vector<checkpoint::Piece>{}},
               own.all, comm::ReduceOp::Max, [&](const std::string& name, const at::Tensor& whole) {
                 if (is_given) write_pieces(name, whole, pieces);
               });
  for (const at::Tensor& buffer : parts_.replicas.buffers()) {
    give(replica().all, buffer, source, is_given);
  }
  if (is_given) replica().own->saved().restored();
}

// Copies the outer state, the values that the source has sent, and its position in the round.
void RoundRecovery::give_outer(const comm::Group& group, int source, bool is_given) {
  for (const Fragment& fragment : parts_.fragments) {
    for (const at::Tensor& tensor : fragment.outer_state()) give(group, tensor, source, is_given);
  }
  std::vector<std::int64_t> position = exchange_.position();
  position.push_back(end_.began());
  group
      .broadcast({position.data(), position.size(), comm::DType::Int64}, source, {.label = "round"})
      .wait();
  if (!is_given || group.rank() == source) return;
  end_.go_along(position.back());
  position.pop_back();
  exchange_.follow(position);
}

}  // namespace trireme::parallel::local
