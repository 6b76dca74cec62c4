#include <algorithm>

#include "trireme/parallel/pipeline/passes.h"

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;

// As many groups as have at least one micro-batch for each rank: when a rank has run a group on one
// of its stages, the first micro-batch is back from the other ranks. Sizes differ by at most one.
int group_count(const PipelineShape& shape) noexcept {
  return std::max(1, shape.micro_batches / shape.ranks);
}

// The number of forward passes before the first backward pass. One for each rank behind would fill
// the pipeline; with two, values arrive before they are used, which hides their transfers.
int interleaved_warm_up(const PipelineShape& shape, int rank) noexcept {
  const int behind = shape.ranks - 1 - rank;
  const int all = shape.stages_per_rank * shape.micro_batches;
  // With one stage per rank, gradients come back from the next stage directly.
  if (shape.stages_per_rank == 1) return std::min(behind, all);
  const int groups = group_count(shape);
  const int largest_group = (shape.micro_batches + groups - 1) / groups;
  return std::min((shape.stages_per_rank - 1) * largest_group + 2 * behind, all);
}

// All forward passes of a rank, or all its backward passes, in order.
RankSchedule passes_by_group(const PipelineShape& shape, int rank, Kind kind) {
  const int groups = group_count(shape);
  const int v = shape.stages_per_rank;
  RankSchedule passes;
  for (int group = 0; group < groups; ++group) {
    const int begin = group * shape.micro_batches / groups;
    const int end = (group + 1) * shape.micro_batches / groups;
    for (int turn = 0; turn < v; ++turn) {
      const int own_stage = kind == Kind::Forward ? turn : v - 1 - turn;
      for (int i = begin; i < end; ++i) passes.push_back({kind, i, own_stage * shape.ranks + rank});
    }
  }
  return passes;
}

}  // namespace

RankSchedule interleaved_passes(const PipelineShape& shape, int rank) {
  const RankSchedule forward = passes_by_group(shape, rank, Kind::Forward);
  const RankSchedule backward = passes_by_group(shape, rank, Kind::Backward);
  const auto warm_up = static_cast<std::size_t>(interleaved_warm_up(shape, rank));
  RankSchedule passes(forward.begin(), forward.begin() + static_cast<std::ptrdiff_t>(warm_up));
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (warm_up + i < forward.size()) passes.push_back(forward[warm_up + i]);
    passes.push_back(backward[i]);
  }
  return passes;
}

int interleaved_activations(const PipelineShape& shape, int rank) noexcept {
  const int all = shape.stages_per_rank * shape.micro_batches;
  return std::min(interleaved_warm_up(shape, rank) + 1, all);
}

}  // namespace trireme::parallel::pipeline
