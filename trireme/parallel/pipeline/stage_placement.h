// StagePlacement says which rank of the pipe axis holds which stage of the model.
//
//   interleaved(2, 1)   stage 0 on rank 0, 1 on 1: one stage per rank
//   interleaved(2, 2)   stages 0 and 2 on rank 0, 1 and 3 on rank 1
//   v_shape(2)          stages 0 and 3 on rank 0, 1 and 2 on rank 1: the first rank also computes
//                       the loss, and between stages 1 and 2 nothing is sent
//
// Thread safety: an immutable value.
// Errors:        InvalidInput if a number is less than one, or if a rank holds no stage.

#pragma once

#include <vector>

namespace trireme::parallel::pipeline {

class StagePlacement {
 public:
  // Stage s is on rank s modulo `ranks`.
  static StagePlacement interleaved(int ranks, int stages_per_rank);
  // Two stages per rank: stage s is on rank s, and after the last rank back towards the first one.
  static StagePlacement v_shape(int ranks);
  // The rank of each stage. The number of ranks is that of the largest one, plus one.
  explicit StagePlacement(std::vector<int> rank_by_stage);

  int ranks() const noexcept { return static_cast<int>(stages_by_rank_.size()); }
  int stages() const noexcept { return static_cast<int>(rank_by_stage_.size()); }
  // REQUIRES: the stage exists.
  int rank_of(int stage) const noexcept { return rank_by_stage_[static_cast<std::size_t>(stage)]; }
  // In ascending order. REQUIRES: the rank exists.
  const std::vector<int>& stages_of(int rank) const noexcept {
    return stages_by_rank_[static_cast<std::size_t>(rank)];
  }

  bool has_stage(int stage) const noexcept { return stage >= 0 && stage < stages(); }
  // True if both stages exist, on different ranks, so that what passes between them is sent.
  bool is_cut_between(int stage, int other) const noexcept;

  friend bool operator==(const StagePlacement&, const StagePlacement&) = default;

 private:
  std::vector<int> rank_by_stage_;
  std::vector<std::vector<int>> stages_by_rank_;
};

}  // namespace trireme::parallel::pipeline
