// The settings of [parallel]: how the ranks of a job are divided over the axes of its mesh.
//
// Thread safety: a value.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::parallel {

inline constexpr const char* kParallelSection = "parallel";

struct ParallelConfig {
  int data = 0;
  int tensor = 1;

  static void describe(config::Fields<ParallelConfig>& f) {
    f.add("data", &ParallelConfig::data)
        .synonyms({"data_parallel_size", "data_parallel_replicate_degree", "dp"})
        .range(0, 1 << 16)
        .help("data-parallel replicas; 0: the number of ranks divided by parallel.tensor");
    f.add("tensor", &ParallelConfig::tensor)
        .synonyms({"tensor_parallel_size", "tensor_parallel_degree", "tp"})
        .range(1, 1 << 10)
        .help("ranks that hold a replica together, each with a part of every layer");
  }
};

}  // namespace trireme::parallel
