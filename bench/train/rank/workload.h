// Workload is one of the trainings that `trireme bench train` measures: a model, the batch per
// rank, and data of the right shape.
//
//   cnn       McMahan's network for MNIST, 64 images per rank
//   mlp       784 - 2048 - 2048 - 2048 - 10, 64 images per rank: much communication, little compute
//   gpt-nano  4 layers, width 128, 12 sequences of 64 tokens per rank, vocabulary 65
//   gpt-mini  6 layers, width 384, 4 sequences of 256 tokens per rank, vocabulary 65
//   gpt-wide  4 layers, width 768, 2 sequences of 128 tokens per rank, vocabulary 8192: much
//             communication
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/data/form.h"

namespace trireme::bench {

struct Workload {
  std::string unit;  // unit of the speed
  std::int64_t units_a_sample = 1;
  std::int64_t batch = 64;            // samples per rank
  std::vector<std::string> settings;  // of [model], as overrides of a recipe
  data::Form form;
};

// Throws InvalidInput for an unknown name.
Workload workload_named(const std::string& name);

}  // namespace trireme::bench
