#include "trireme/parallel/local/round/rounds_state.h"

#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>

#include <string>
#include <utility>

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

void RoundsState::restored() {
  parts_.replicas.restored();
  parts_.recovery.restored();
}

// Of this replica, under its own names.
std::vector<checkpoint::Piece> RoundsState::pieces_of_replica() const {
  const Replica& replica = parts_.replicas.replica();
  std::vector<checkpoint::Piece> all = replica.own->saved().pieces();
  for (checkpoint::Piece& piece : all) {
    piece.name = state_name(replica_name(replica.number()), piece.name);
  }
  return all;
}

std::vector<checkpoint::Piece> RoundsState::own_pieces() {
  const Replica& replica = parts_.replicas.replica();
  const bool is_model = replica.number() == 0;
  std::vector<checkpoint::Piece> all = pieces_of_replica();
  if (is_model) all.clear();
  const bool is_speaker = !is_model && replica.inside.rank() == 0;
  for (std::size_t i = 0; is_speaker && i < parts_.replicas.buffers().size(); ++i) {
    const at::Tensor& buffer = parts_.replicas.buffers()[i];
    all.push_back(
        {.name = buffer_name(replica.number(), i), .shard = buffer.sizes().vec(), .data = buffer});
  }
  for (Fragment& fragment : parts_.fragments) {
    for (checkpoint::Piece& piece : fragment.own_pieces()) all.push_back(std::move(piece));
  }
  if (parts_.fragments.role().is_saver) {
    alike_ = at::full({1}, parts_.exchange.is_alike() ? 1 : 0, at::kLong);
    all.push_back({.name = state_name(kAlike, kReplicas), .shard = {{1}}, .data = alike_});
  }
  return all;
}

// Every rank has already read the first replica.
void RoundsState::restore_own(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  const Replica& replica = parts_.replicas.replica();
  for (Fragment& fragment : parts_.fragments) fragment.restore(from);
  for (const checkpoint::Piece& piece : pieces_of_replica()) {
    if (from.has(piece.name)) from.read_into(piece);
  }
  replica.own->saved().restored();
  for (std::size_t i = 0; i < parts_.replicas.buffers().size(); ++i) {
    const std::string name = buffer_name(replica.number(), i);
    if (from.has(name)) from.read_into(name, parts_.replicas.buffers()[i]);
  }
  // If the checkpoint was written at the end of a round, the replicas are equal; combining them
  // again would run an additional outer step.
  const std::string alike = state_name(kAlike, kReplicas);
  parts_.exchange.set_alike(from.has(alike) && from.read(alike).item<std::int64_t>() != 0);
}

}  // namespace trireme::parallel::local
