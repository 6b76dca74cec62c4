#include "trireme/parallel/parameter.h"

#include <unordered_set>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel {

checkpoint::Piece piece_of(const Parameter& parameter, std::string name, std::int64_t begin,
                           at::Tensor data) {
  checkpoint::Piece piece{.name = std::move(name),
                          .shard = parameter.shard(),
                          .begin = parameter.begin + begin,
                          .data = std::move(data)};
  const std::int64_t end = piece.begin + (piece.data.defined() ? piece.data.numel() : 0);
  TRIREME_CHECK(end <= piece.shard.count(), parameter.name, ": elements to ", end,
                " of a shard of ", mesh::text_of(piece.shard.sizes()));
  return piece;
}

Parameter part_at(const Parameter& whole, std::int64_t begin, at::Tensor data) {
  Parameter part = whole;
  if (!part.layout) part.layout.emplace(whole.tensor.sizes().vec());
  part.begin += begin;
  const bool is_whole = data.numel() == whole.tensor.numel();
  part.tensor = is_whole ? data.view(whole.tensor.sizes()) : std::move(data);
  return part;
}

std::vector<Parameter> parameters_of(const torch::nn::Module& module, const Treat& treat,
                                     const std::vector<mesh::Place>& places,
                                     const std::map<std::string, mesh::Layout>& layouts) {
  std::vector<Parameter> all;
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters()) {
    const at::Tensor& tensor = item.value();
    if (!tensor.requires_grad() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    const auto cut = layouts.find(item.key());
    const Treatment treatment = treat ? treat(item.key(), tensor) : Treatment{};
    all.push_back(
        {.name = item.key(),
         .tensor = tensor,
         .layout = cut == layouts.end() ? mesh::Layout(tensor.sizes().vec()) : cut->second,
         .places = places,
         .lr_factor = treatment.lr_factor,
         .weight_decay = treatment.weight_decay,
         .first_update = treatment.first_update,
         .rule = treatment.rule});
  }
  return all;
}

}  // namespace trireme::parallel
