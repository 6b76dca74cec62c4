#include "trireme/parallel/pipeline/schedules.h"

#include <algorithm>
#include <array>

#include "trireme/base/error.h"
#include "trireme/parallel/pipeline/transfers.h"

namespace trireme::parallel::pipeline {
namespace {

StagePlacement round_robin(const PipelineShape& shape) {
  return StagePlacement::interleaved(shape.ranks, shape.stages_per_rank);
}

constexpr std::array kRecords{
    ScheduleRecord{
        .name = "gpipe",
        .help = "all forward passes, then all backward passes; every micro-batch is in memory",
        .placement = round_robin,
        .passes = gpipe_passes,
        .activations_max = [](const PipelineShape& shape, int) { return shape.micro_batches; }},
    ScheduleRecord{
        .name = "1f1b",
        .help = "forward and backward passes alternate: the bubble of gpipe, with at most one "
                "micro-batch in memory per rank of the pipeline",
        .placement = round_robin,
        .passes = one_f_one_b_passes,
        .activations_max =
            [](const PipelineShape& shape, int rank) {
              return std::min(shape.micro_batches, shape.ranks - rank);
            }},
    ScheduleRecord{
        .name = "interleaved_1f1b",
        .help = "1f1b with several stages per rank: a smaller bubble, more transfers and more "
                "memory",
        .stages_per_rank = 2,
        .has_any_stages_per_rank = true,
        .placement = round_robin,
        .passes = interleaved_passes,
        .activations_max = interleaved_activations},
    ScheduleRecord{
        .name = "zb_h1",
        .help = "1f1b with a split backward: the gradients of weights fill part of the bubble; "
                "every rank has the memory of the first rank of 1f1b",
        .has_split_backward = true,
        .placement = round_robin,
        .passes = zb_h1_passes,
        .activations_max = [](const PipelineShape& shape,
                              int) { return std::min(shape.micro_batches, shape.ranks); }},
    ScheduleRecord{
        .name = "zb_v",
        .help = "two stages per rank in a V shape with a split backward: nearly no bubble with "
                "the memory of zb_h1, if forward and both parts of backward take equally long",
        .has_split_backward = true,
        .stages_per_rank = 2,
        .placement =
            [](const PipelineShape& shape) { return StagePlacement::v_shape(shape.ranks); },
        .passes = zb_v_passes,
        .activations_max = [](const PipelineShape& shape,
                              int) { return 2 * std::min(shape.micro_batches, shape.ranks); }},
};

}  // namespace

std::span<const ScheduleRecord> schedule_records() noexcept {
  return kRecords;
}

std::string schedule_names() {
  std::string names;
  for (const ScheduleRecord& record : kRecords) {
    names += (names.empty() ? "" : ", ") + std::string(record.name);
  }
  return names;
}

const ScheduleRecord& schedule_named(std::string_view name) {
  for (const ScheduleRecord& record : kRecords) {
    if (record.name == name) return record;
  }
  throw Error(ErrorCode::InvalidInput, "the pipeline schedule \"" + std::string(name) +
                                           "\" does not exist; use one of " + schedule_names());
}

void check_shape(const ScheduleRecord& record, const PipelineShape& shape) {
  const std::string schedule = "the pipeline schedule " + std::string(record.name);
  if (shape.ranks < 1 || shape.stages_per_rank < 1 || shape.micro_batches < 1) {
    throw Error(ErrorCode::InvalidInput,
                schedule + " requires at least 1 rank, 1 stage per rank and 1 micro-batch, not " +
                    std::to_string(shape.ranks) + ", " + std::to_string(shape.stages_per_rank) +
                    " and " + std::to_string(shape.micro_batches));
  }
  if (record.has_any_stages_per_rank || shape.stages_per_rank == record.stages_per_rank) return;
  throw Error(ErrorCode::InvalidInput, schedule + " has " + std::to_string(record.stages_per_rank) +
                                           " stages per rank, not " +
                                           std::to_string(shape.stages_per_rank));
}

PipelineSchedule make_schedule(const ScheduleRecord& record, const PipelineShape& shape) {
  check_shape(record, shape);
  PipelineSchedule passes;
  for (int rank = 0; rank < shape.ranks; ++rank) passes.push_back(record.passes(shape, rank));
  return with_transfers(passes, record.placement(shape));
}

std::vector<int> activations_max(const ScheduleRecord& record, const PipelineShape& shape) {
  check_shape(record, shape);
  std::vector<int> most;
  most.reserve(static_cast<std::size_t>(shape.ranks));
  for (int rank = 0; rank < shape.ranks; ++rank) {
    most.push_back(record.activations_max(shape, rank));
  }
  return most;
}

}  // namespace trireme::parallel::pipeline
