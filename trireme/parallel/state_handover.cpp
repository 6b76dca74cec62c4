#include "trireme/parallel/state_handover.h"

#include <limits>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/whole_state.h"

namespace trireme::parallel {

// A maximum over ranks fills in the elements that a rank lacks.
StateHandover::Whole StateHandover::whole(SavedState& from, const comm::Group& group) const {
  const std::vector<checkpoint::Piece> pieces = from.pieces();
  Whole whole;
  std::int64_t missing = 0;
  for (const StateTensor& one : tensors_of(parameters_, states_)) {
    whole[one.name] = whole_of(one, pieces, -std::numeric_limits<double>::infinity());
    missing += one.like.numel();
  }
  for (const checkpoint::Piece& piece : pieces) missing -= piece.data.numel();
  group.all_reduce({&missing, 1, comm::DType::Int64}, comm::ReduceOp::Max, {.label = "change"})
      .wait();
  if (missing == 0) return whole;
  for (auto& [name, tensor] : whole) {
    comm::all_reduce(group, tensor, comm::ReduceOp::Max, {.label = name}).wait();
  }
  return whole;
}

void StateHandover::take(const Whole& state) const {
  for (Parameter parameter : parameters_) {
    parameter.tensor.mutable_grad().reset();
    if (!state.empty()) parameter.tensor.set_data(state.at(parameter.name));
  }
}

void StateHandover::give(const Whole& state, SavedState& to) {
  const std::vector<checkpoint::Piece> pieces = to.pieces();
  for (const auto& [name, whole] : state) write_pieces(name, whole, pieces);
  to.restored();
}

}  // namespace trireme::parallel
