// The kinds of pipeline schedules. Recipes, help and checks of settings are made from their
// records; a new kind is a function in passes.h and a record in schedules.cpp.
//
//   const ScheduleRecord& kind = schedule_named("zb_v");
//   const PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 16};
//   const PipelineSchedule schedule = make_schedule(kind, shape);   // with transfers
//
// Thread safety: immutable records and pure functions.
// Errors:        InvalidInput for a name that does not exist, and for a shape that the kind does
// not
//                support.
// Lifetime:      records live as long as the program.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/parallel/pipeline/action.h"
#include "trireme/parallel/pipeline/passes.h"
#include "trireme/parallel/pipeline/stage_placement.h"

namespace trireme::parallel::pipeline {

struct ScheduleRecord {
  std::string_view name;  // as in a recipe
  std::string_view help;
  // The model must be able to compute the gradients of inputs and of weights separately.
  bool has_split_backward = false;
  int stages_per_rank = 1;  // the only number possible, or the default
  bool has_any_stages_per_rank = false;

  StagePlacement (*placement)(const PipelineShape& shape) = nullptr;
  // Of one rank, without transfers.
  RankSchedule (*passes)(const PipelineShape& shape, int rank) = nullptr;
  // The activations of so many micro-batches and stages are in the memory of this rank at a time.
  int (*activations_max)(const PipelineShape& shape, int rank) = nullptr;
};

// In the order in which help lists them.
std::span<const ScheduleRecord> schedule_records() noexcept;
const ScheduleRecord& schedule_named(std::string_view name);
// "gpipe, 1f1b, interleaved_1f1b, zb_h1, zb_v"
std::string schedule_names();

void check_shape(const ScheduleRecord& record, const PipelineShape& shape);

// What every rank does, with transfers.
PipelineSchedule make_schedule(const ScheduleRecord& record, const PipelineShape& shape);

// By rank.
std::vector<int> activations_max(const ScheduleRecord& record, const PipelineShape& shape);

}  // namespace trireme::parallel::pipeline
