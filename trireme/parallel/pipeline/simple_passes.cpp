// The kinds with one stage per rank.

#include <algorithm>

#include "trireme/parallel/pipeline/passes.h"

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;

}  // namespace

RankSchedule gpipe_passes(const PipelineShape& shape, int rank) {
  RankSchedule passes;
  for (int i = 0; i < shape.micro_batches; ++i) passes.push_back({Kind::Forward, i, rank});
  for (int i = 0; i < shape.micro_batches; ++i) passes.push_back({Kind::Backward, i, rank});
  return passes;
}

RankSchedule one_f_one_b_passes(const PipelineShape& shape, int rank) {
  const int warm_up = std::min(shape.ranks - 1 - rank, shape.micro_batches);
  RankSchedule passes;
  for (int i = 0; i < warm_up; ++i) passes.push_back({Kind::Forward, i, rank});
  for (int i = 0; i < shape.micro_batches; ++i) {
    const int ahead = warm_up + i;
    if (ahead < shape.micro_batches) passes.push_back({Kind::Forward, ahead, rank});
    passes.push_back({Kind::Backward, i, rank});
  }
  return passes;
}

RankSchedule zb_h1_passes(const PipelineShape& shape, int rank) {
  const int warm_up = std::min(shape.ranks - 1 - rank, shape.micro_batches);
  RankSchedule passes;
  for (int i = 0; i < warm_up; ++i) passes.push_back({Kind::Forward, i, rank});
  int weights = 0;
  for (int i = 0; i < shape.micro_batches; ++i) {
    const int ahead = warm_up + i;
    if (ahead < shape.micro_batches) passes.push_back({Kind::Forward, ahead, rank});
    passes.push_back({Kind::BackwardInput, i, rank});
    // The first rank has no delay: then it has the memory of 1F1B, and no rank has more.
    if (i >= rank) passes.push_back({Kind::BackwardWeight, weights++, rank});
  }
  while (weights < shape.micro_batches) {
    passes.push_back({Kind::BackwardWeight, weights++, rank});
  }
  return passes;
}

}  // namespace trireme::parallel::pipeline
