#include "trireme/parallel/whole_state.h"

#include <ATen/ops/full.h>

#include <limits>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/saved_state.h"

namespace trireme::parallel {
namespace {

at::Tensor part_of(const at::Tensor& whole, const checkpoint::Piece& piece) {
  return whole.view({-1}).narrow(0, piece.begin, piece.data.numel());
}

}  // namespace

void reduce_state(const OwnState& own, const comm::Group& group, comm::ReduceOp op,
                  const std::function<void(const std::string&, const at::Tensor&)>& use) {
  const double rest = op == comm::ReduceOp::Max ? -std::numeric_limits<double>::infinity() : 0;
  const auto reduce = [&](const std::string& name, const at::Tensor& like) {
    const at::Tensor whole = at::full(like.sizes(), rest, like.options().requires_grad(false));
    for (const checkpoint::Piece& piece : own.pieces) {
      if (piece.name == name) part_of(whole, piece).copy_(piece.data.view({-1}));
    }
    if (group.size() > 1) comm::all_reduce(group, whole, op, {.label = name}).wait();
    use(name, whole);
  };
  for (const Parameter& parameter : own.parameters) reduce(parameter.name, parameter.tensor);
  for (const std::string& state : own.states) {
    for (const Parameter& parameter : own.parameters) {
      reduce(state_name(state, parameter.name), parameter.tensor);
    }
  }
}

// Nothing is sent if every rank has everything.
WholeState whole_state(const OwnState& own, const comm::Group& group) {
  std::int64_t missing = 0;
  for (const Parameter& parameter : own.parameters) missing += parameter.tensor.numel();
  missing *= static_cast<std::int64_t>(1 + own.states.size());
  for (const checkpoint::Piece& piece : own.pieces) missing -= piece.data.numel();
  group.all_reduce({&missing, 1, comm::DType::Int64}, comm::ReduceOp::Max, {.label = "change"})
      .wait();
  WholeState whole;
  reduce_state(own, missing == 0 ? comm::Group::solo() : group, comm::ReduceOp::Max,
               [&](const std::string& name, const at::Tensor& tensor) { whole[name] = tensor; });
  return whole;
}

void write_pieces(const std::string& name, const at::Tensor& whole,
                  const std::vector<checkpoint::Piece>& pieces) {
  for (const checkpoint::Piece& piece : pieces) {
    if (piece.name == name) piece.data.view({-1}).copy_(part_of(whole, piece));
  }
}

void write_state(const WholeState& state, const std::vector<checkpoint::Piece>& pieces) {
  for (const auto& [name, whole] : state) write_pieces(name, whole, pieces);
}

}  // namespace trireme::parallel
