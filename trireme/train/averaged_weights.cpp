#include "trireme/train/averaged_weights.h"

#include <c10/core/GradMode.h>

#include <map>
#include <string>
#include <tuple>

#include "trireme/optim/averaged.h"

namespace trireme::train {

AveragedWeights::AveragedWeights(parallel::GradientSync& gradient_sync)
    : gradient_sync_(gradient_sync) {
  const c10::NoGradGuard no_grad;
  const std::vector<checkpoint::Piece> pieces = gradient_sync.saved().pieces();
  // Waits until no other rank reads the weights any more.
  gradient_sync.commit().total(0);
  std::map<std::tuple<std::string, mesh::Box, std::int64_t>, at::Tensor> by_place;
  for (const checkpoint::Piece& piece : pieces) {
    by_place.emplace(std::tuple(piece.name, piece.shard.box(), piece.begin), piece.data);
  }
  for (const checkpoint::Piece& piece : pieces) {
    const std::string lag = parallel::state_name(optim::kAverageLag, piece.name);
    const auto found = by_place.find({lag, piece.shard.box(), piece.begin});
    if (found == by_place.end()) continue;
    kept_.push_back({.place = piece.data, .values = piece.data.clone()});
    piece.data.add_(found->second.view(piece.data.sizes()));
  }
  gradient_sync.saved().restored();
  gradient_sync.model().settle();
}

void AveragedWeights::put_back() {
  const c10::NoGradGuard no_grad;
  // Waits until no other rank reads the averages any more.
  gradient_sync_.commit().total(0);
  for (const Kept& kept : kept_) kept.place.copy_(kept.values);
  kept_.clear();
  gradient_sync_.saved().restored();
}

void read_average(model::Model& model, const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  for (const auto& parameter : model.named_parameters()) {
    const std::string lag = parallel::state_name(optim::kAverageLag, parameter.key());
    if (!from.has(lag)) continue;
    const at::Tensor& weight = parameter.value();
    weight.detach().add_(from.read(lag).view(weight.sizes()));
  }
}

}  // namespace trireme::train
