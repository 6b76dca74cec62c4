#include "trireme/parallel/local/round/replica_transfer.h"

#include <ATen/ops/empty_like.h>

#include <limits>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/whole_state.h"

namespace trireme::parallel::local {

void give(const comm::Group& group, const at::Tensor& tensor, int source, bool is_given) {
  const bool is_kept = !is_given && group.rank() != source;
  const at::Tensor place = is_kept ? at::empty_like(tensor) : tensor;
  comm::broadcast(group, place, source, {.label = "state"}).wait();
}

void give_state(const Replica& replica, int source, bool is_given) {
  const int from = replica.numbers[static_cast<std::size_t>(source)];
  const std::vector<checkpoint::Piece> pieces = replica.own->saved().pieces();
  const auto given = replica.number() == from ? pieces : std::vector<checkpoint::Piece>{};
  for (const StateTensor& one : tensors_of(replica.parameters, replica.states)) {
    const at::Tensor whole = whole_of(one, given, -std::numeric_limits<double>::infinity());
    comm::all_reduce(replica.all, whole, comm::ReduceOp::Max, {.label = one.name}).wait();
    if (is_given) write_pieces(one.name, whole, pieces);
  }
}

// Elements that a rank does not hold count as 0 in the sum.
ReplicaState mean_state(const Replica& replica) {
  ReplicaState mean;
  const std::vector<checkpoint::Piece> pieces = replica.own->saved().pieces();
  for (const StateTensor& one : tensors_of(replica.parameters, replica.states)) {
    at::Tensor whole = whole_of(one, pieces, 0);
    comm::all_reduce(replica.all, whole, comm::ReduceOp::Sum, {.label = one.name}).wait();
    mean[one.name] = whole.div_(replica.count());
  }
  return mean;
}

void write_state(const Replica& replica, const ReplicaState& state) {
  const std::vector<checkpoint::Piece> pieces = replica.own->saved().pieces();
  for (const auto& [name, whole] : state) write_pieces(name, whole, pieces);
}

}  // namespace trireme::parallel::local
