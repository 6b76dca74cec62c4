// Workload is one of the trainings that `trireme bench train` measures: a model, the batch that
// each rank has, and data of the right form.
//
//   cnn       McMahan's network for MNIST, 64 images a rank
//   mlp       784 - 2048 - 2048 - 2048 - 10, 64 images a rank: much to send, little to compute
//   gpt-nano  4 layers, width 128, 12 texts of 64 tokens a rank, vocabulary 65
//   gpt-mini  6 layers, width 384, 4 texts of 256 tokens a rank, vocabulary 65
//   gpt-wide  4 layers, width 768, 2 texts of 128 tokens a rank, vocabulary 8192: much to send
//
// Threads: values and pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/data/form.h"

namespace trireme::bench {

struct Workload {
  std::string unit;  // that speed is counted in
  std::int64_t units_a_sample = 1;
  std::int64_t batch = 64;            // samples a rank
  std::vector<std::string> settings;  // of [model], as overrides of a recipe
  data::Form form;
};

// Throws InvalidInput for a name that is none.
Workload workload_named(const std::string& name);

}  // namespace trireme::bench
