#include "trireme/parallel/whole_state.h"

#include <ATen/ops/full.h>

#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel {
namespace {

at::Tensor part_of(const at::Tensor& whole, const checkpoint::Piece& piece) {
  return whole.view({-1}).narrow(0, piece.begin, piece.data.numel());
}

}  // namespace

std::vector<StateTensor> tensors_of(const std::vector<Parameter>& parameters,
                                    const std::vector<std::string>& states) {
  std::vector<StateTensor> all;
  for (const Parameter& parameter : parameters) all.push_back({parameter.name, parameter.tensor});
  for (const std::string& state : states) {
    for (const Parameter& parameter : parameters) {
      all.push_back({state_name(state, parameter.name), parameter.tensor});
    }
  }
  return all;
}

at::Tensor whole_of(const StateTensor& one, const std::vector<checkpoint::Piece>& pieces,
                    double rest) {
  const at::Tensor whole =
      at::full(one.like.sizes(), rest, one.like.options().requires_grad(false));
  for (const checkpoint::Piece& piece : pieces) {
    if (piece.name == one.name) part_of(whole, piece).copy_(piece.data.view({-1}));
  }
  return whole;
}

void write_pieces(const std::string& name, const at::Tensor& whole,
                  const std::vector<checkpoint::Piece>& pieces) {
  for (const checkpoint::Piece& piece : pieces) {
    if (piece.name == name) piece.data.view({-1}).copy_(part_of(whole, piece));
  }
}

}  // namespace trireme::parallel
