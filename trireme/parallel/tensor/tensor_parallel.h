// TensorParallel cuts a model over the ranks of a group, by the rules of the model or of its user:
// each rank keeps a shard of the weights that the rules name and whole copies of all others, and
// the layers communicate. What the model computes does not change.
//
//   TensorParallel cut(model, mesh, model.split_rules());
//   cut.initialize(seed);                                  // the values of the whole model's
//   shards parameters_of(model, treat, mesh.places(), cut.layouts());
//
// The weights are cut in the constructor, before they have values, so that a rank never holds
// memory for those of the whole model (model::WithoutMemory).
//
// Errors:        InvalidInput for a rule that matches no layer, and for a number of heads that the
//                number of ranks does not divide.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trireme/mesh/mesh.h"
#include "trireme/model/model.h"
#include "trireme/model/split_rule.h"
#include "trireme/parallel/tensor/sharded_cross_entropy.h"

namespace trireme::parallel::tensor {

inline constexpr const char* kTensorAxis = "tensor";

// By name: how the parameters that the rules cut lie on the tensor axis. The others are replicated.
using Layouts = std::map<std::string, mesh::Layout>;

// Those that name a layer of this model, which may be a stage of the model that they are for.
std::vector<model::SplitRule> rules_for(const model::Model& model,
                                        const std::vector<model::SplitRule>& rules);

// Without changing the model.
Layouts layouts_of(const model::Model& model, const std::vector<model::SplitRule>& rules,
                   int ranks);

class TensorParallel {
 public:
  TensorParallel(model::Model& model, const mesh::Mesh& mesh,
                 const std::vector<model::SplitRule>& rules);

  const Layouts& layouts() const noexcept { return layouts_; }
  // Gives every parameter its initial values: bit for bit those of the whole model.
  void initialize(std::uint64_t seed) const;
  // Where the logits are cut, what this rank computes of them.
  const std::optional<VocabularyShard>& logits() const noexcept { return logits_; }

 private:
  void attach(const comm::Group& group, const std::vector<model::SplitRule>& rules);
  void cut();

  model::Model& model_;
  std::vector<mesh::Place> places_;
  Layouts layouts_;
  std::map<std::string, model::Start> starts_;
  std::optional<VocabularyShard> logits_;
};

}  // namespace trireme::parallel::tensor
