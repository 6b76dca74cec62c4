// The passes of one rank in each kind of schedule, in order and without transfers.
// trireme/parallel/pipeline/schedules.h lists the kinds.
//
// Every number of micro-batches works, also one that is smaller than that of the ranks or no
// multiple of it.
//
// Order:         a stage runs the backward passes in the order of its micro-batches, so that all
//                kinds add up its gradients in the same order and give the same bits.
// Thread safety: pure functions.
// REQUIRES:      a shape that the kind supports, and a rank below its number of ranks.

#pragma once

#include "trireme/parallel/pipeline/action.h"

namespace trireme::parallel::pipeline {

struct PipelineShape {
  int ranks = 1;
  int stages_per_rank = 1;
  int micro_batches = 1;
};

// All forward passes, then all backward passes (Huang et al. 2019).
RankSchedule gpipe_passes(const PipelineShape& shape, int rank);

// Forward and backward alternate as soon as the first gradients arrive (Narayanan et al. 2019).
RankSchedule one_f_one_b_passes(const PipelineShape& shape, int rank);

// The same with several stages per rank, which shortens the bubble (Narayanan et al. 2021). The
// micro-batches are divided into groups of at least the number of ranks; a rank runs a group on its
// first stage, then on its second one, and so on. With one stage per rank it is
// one_f_one_b_passes().
RankSchedule interleaved_passes(const PipelineShape& shape, int rank);
// The largest number of activations that are alive at a time (peak_activations()).
int interleaved_activations(const PipelineShape& shape, int rank) noexcept;

// ZB-H1 (Qi et al. 2023): one_f_one_b_passes() with a split backward. Rank r runs the weight part r
// micro-batches late, and so fills the bubble at the end.
RankSchedule zb_h1_passes(const PipelineShape& shape, int rank);

// ZB-V (Qi et al. 2023): two stages per rank in a V shape, with a split backward.
RankSchedule zb_v_passes(const PipelineShape& shape, int rank);

}  // namespace trireme::parallel::pipeline
