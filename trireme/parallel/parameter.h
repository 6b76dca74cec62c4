// Parameter is a trained tensor with its name, its layout and its own optimizer settings.
//
// A tensor that several modules share is one parameter, under the name that comes first. A frozen
// tensor (requires_grad is false) is not a parameter.
//
// Layout:        where tensor parallelism cuts a parameter, `tensor` is this rank's shard of the
//                logical tensor, as `layout` cuts it at `places`. Strategies treat the shard as a
//                tensor of its own. What is saved goes through piece_of(), which adds where in the
//                logical tensor it lies; a ZeRO shard is then a flat range of the shard.
//
// Thread safety: a value.

#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/mesh/layout.h"

namespace trireme::parallel {

struct Parameter {
  std::string name;
  at::Tensor tensor;
  std::optional<mesh::Layout> layout{};  // of the logical tensor; nothing: replicated on all axes
  // Of this rank, on the axes of the mesh except that of data parallelism, whose places change in
  // elastic jobs and which no layout cuts. Empty: each rank is a data-parallel replica.
  std::vector<mesh::Place> places{};
  std::int64_t begin = 0;  // in a list of parts: where in the shard the tensor begins, a flat range
  double lr_factor = 1;    // multiplied into the learning rate
  double weight_decay = 0;
  std::int64_t first_update = 1;  // the first update that trains it
  int rule = 0;                   // index of its update rule, if the optimizer has several

  // What this rank holds of the logical tensor.
  mesh::Shard shard() const { return layout ? layout->shard(places) : tensor.sizes().vec(); }
  // Whether this rank is the first of the ranks of its replica that hold the shard: in sums over
  // all ranks, the others leave it out.
  bool is_first_holder() const {
    return layout ? layout->is_first_holder(places) : mesh::Layout().is_first_holder(places);
  }
};

// A piece of the parameter, or of optimizer state that has its shape: `data` begins at element
// `begin` of the tensor. Data may be added later.
checkpoint::Piece piece_of(const Parameter& parameter, std::string name, std::int64_t begin,
                           at::Tensor data);

// The part of a parameter that begins at element `begin` of its tensor.
Parameter part_at(const Parameter& whole, std::int64_t begin, at::Tensor data);

// The optimizer settings of a parameter; by default the same for all.
struct Treatment {
  double lr_factor = 1;
  double weight_decay = 0;
  std::int64_t first_update = 1;
  int rule = 0;
};
using Treat = std::function<Treatment(const std::string& name, const at::Tensor& tensor)>;

// In the order in which the module lists them. Those without an entry in `layouts` are replicated.
std::vector<Parameter> parameters_of(const torch::nn::Module& module, const Treat& treat = {},
                                     const std::vector<mesh::Place>& places = {},
                                     const std::map<std::string, mesh::Layout>& layouts = {});

}  // namespace trireme::parallel
