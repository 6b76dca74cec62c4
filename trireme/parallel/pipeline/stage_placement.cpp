#include "trireme/parallel/pipeline/stage_placement.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::parallel::pipeline {
namespace {

void require_one(int value, const char* what) {
  if (value >= 1) return;
  throw Error(ErrorCode::InvalidInput, "a pipeline of " + std::to_string(value) + " " + what +
                                           " does not exist; use at least 1");
}

}  // namespace

StagePlacement StagePlacement::interleaved(int ranks, int stages_per_rank) {
  require_one(ranks, "ranks");
  require_one(stages_per_rank, "stages per rank");
  std::vector<int> rank_by_stage;
  for (int i = 0; i < stages_per_rank; ++i) {
    for (int rank = 0; rank < ranks; ++rank) rank_by_stage.push_back(rank);
  }
  return StagePlacement(std::move(rank_by_stage));
}

StagePlacement StagePlacement::v_shape(int ranks) {
  require_one(ranks, "ranks");
  std::vector<int> rank_by_stage(2 * static_cast<std::size_t>(ranks));
  std::iota(rank_by_stage.begin(), rank_by_stage.begin() + ranks, 0);
  std::iota(rank_by_stage.rbegin(), rank_by_stage.rbegin() + ranks, 0);
  return StagePlacement(std::move(rank_by_stage));
}

StagePlacement::StagePlacement(std::vector<int> rank_by_stage)
    : rank_by_stage_(std::move(rank_by_stage)) {
  require_one(stages(), "stages");
  const auto [least, most] = std::minmax_element(rank_by_stage_.begin(), rank_by_stage_.end());
  if (*least < 0) {
    throw Error(ErrorCode::InvalidInput, "a stage is on rank " + std::to_string(*least));
  }
  stages_by_rank_.resize(static_cast<std::size_t>(*most) + 1);
  for (int stage = 0; stage < stages(); ++stage) {
    stages_by_rank_[static_cast<std::size_t>(rank_of(stage))].push_back(stage);
  }
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!stages_of(rank).empty()) continue;
    throw Error(ErrorCode::InvalidInput, "rank " + std::to_string(rank) + " holds no stage");
  }
}

bool StagePlacement::is_cut_between(int stage, int other) const noexcept {
  return has_stage(stage) && has_stage(other) && rank_of(stage) != rank_of(other);
}

}  // namespace trireme::parallel::pipeline
