#include "trireme/parallel/state_handover.h"

#include <limits>

#include "trireme/base/check.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/whole_state.h"

namespace trireme::parallel {

StateHandover::Held StateHandover::held(SavedState& from) const {
  const std::vector<checkpoint::Piece> pieces = from.pieces();
  Held held;
  for (const StateTensor& one : tensors_of(parameters_, states_)) {
    held.state[one.name] = whole_of(one, pieces, -std::numeric_limits<double>::infinity());
    held.missing += one.like.numel();
  }
  for (const checkpoint::Piece& piece : pieces) held.missing -= piece.data.numel();
  return held;
}

StateHandover::Whole StateHandover::own(SavedState& from) const {
  Held held = this->held(from);
  TRIREME_CHECK_EQ(held.missing, 0, "elements that only other ranks have");
  return std::move(held.state);
}

// A maximum over ranks fills in the elements that a rank lacks.
StateHandover::Whole StateHandover::whole(SavedState& from, const comm::Group& group) const {
  Held held = this->held(from);
  group.all_reduce({&held.missing, 1, comm::DType::Int64}, comm::ReduceOp::Max, {.label = "change"})
      .wait();
  if (held.missing == 0) return std::move(held.state);
  for (auto& [name, tensor] : held.state) {
    comm::all_reduce(group, tensor, comm::ReduceOp::Max, {.label = name}).wait();
  }
  return std::move(held.state);
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
