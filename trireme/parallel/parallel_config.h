// The settings of [parallel]: how the ranks of a job are divided over the axes of its mesh.
//
// Thread safety: a value.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/parallel/pipeline/schedules.h"
#include "trireme/parallel/pipeline/stage_split.h"

namespace trireme::parallel {

inline constexpr const char* kParallelSection = "parallel";

struct ParallelConfig {
  int data = 0;
  int tensor = 1;
  int pipe = 1;
  std::string schedule = "1f1b";
  int stages_per_rank = 0;
  pipeline::SplitBy split = pipeline::SplitBy::Parameters;
  std::vector<std::string> split_points{};

  bool is_pipelined() const noexcept { return pipe > 1; }
  // Stages on each rank of the pipe axis.
  int stages() const {
    return stages_per_rank > 0 ? stages_per_rank
                               : pipeline::schedule_named(schedule).stages_per_rank;
  }

  static void describe(config::Fields<ParallelConfig>& f) {
    f.add("data", &ParallelConfig::data)
        .synonyms({"data_parallel_size", "data_parallel_replicate_degree", "dp"})
        .range(0, 1 << 16)
        .help(
            "data-parallel replicas; 0: the number of ranks divided by parallel.tensor and "
            "parallel.pipe");
    f.add("tensor", &ParallelConfig::tensor)
        .synonyms({"tensor_parallel_size", "tensor_parallel_degree", "tp"})
        .range(1, 1 << 10)
        .help("ranks that hold a replica together, each with a part of every layer");
    f.add("pipe", &ParallelConfig::pipe)
        .synonyms({"pipeline", "pipeline_parallel_size", "pipeline_parallel_degree", "pp"})
        .range(1, 1 << 8)
        .help(
            "ranks that hold a replica together, each with some of its blocks, one after another");
    f.add("schedule", &ParallelConfig::schedule)
        .synonyms({"pipeline_parallel_schedule", "pipeline_schedule"})
        .check([](const std::string& name) { return mistake_in_schedule(name); })
        .help(
            "with parallel.pipe: order of the passes of micro-batches: gpipe, 1f1b or "
            "interleaved_1f1b");
    f.add("stages_per_rank", &ParallelConfig::stages_per_rank)
        .synonyms({"virtual_pipeline_model_parallel_size"})
        .range(0, 1 << 8)
        .help("with parallel.pipe: stages on each rank, for interleaved_1f1b; 0: 2 there");
    f.add("split", &ParallelConfig::split)
        .names(
            {{"parameters", pipeline::SplitBy::Parameters}, {"layers", pipeline::SplitBy::Layers}})
        .help("with parallel.pipe: stages have about the same number of parameters, or of layers");
    f.add("split_points", &ParallelConfig::split_points)
        .synonyms({"pipeline_parallel_split_points"})
        .help(
            "with parallel.pipe: the blocks at which stages begin, except the first; instead of "
            "parallel.split");
    f.require([](const ParallelConfig& c) { return mistake_in_stages(c); });
  }

 private:
  static std::string mistake_in_schedule(const std::string& name);
  static std::string mistake_in_stages(const ParallelConfig& config);
};

}  // namespace trireme::parallel
