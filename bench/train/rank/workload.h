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
// The data are random numbers in memory, the same on every rank: inputs are normally distributed
// or, for tokens, drawn from the whole vocabulary; targets are drawn from all classes. A model can
// only memorize them, which a few steps on the same batch do.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/train/recipe/recipe.h"

namespace trireme::bench {

struct Workload {
  std::string unit;                   // unit of the speed
  std::int64_t batch = 64;            // samples per rank
  std::vector<std::string> settings;  // of [model], [data] and [optim], as overrides of a recipe
  std::vector<std::int64_t> input_sizes;
  std::int64_t classes = 10;  // or the vocabulary size

  bool is_text() const noexcept { return unit == "tokens"; }
  std::int64_t units_per_sample() const { return is_text() ? input_sizes[0] : 1; }
};

struct GptSizes {
  std::int64_t vocabulary, context, width, layers, heads;
  std::int64_t batch;  // sequences per rank
};

// Throws InvalidInput for an unknown name.
Workload workload_named(const std::string& name);
// A GPT of any size.
Workload text_workload(const GptSizes& sizes);

// The kinds of Trireme, and the data of kind "random": one batch for this number of ranks.
trireme::train::Kinds kinds_for(const Workload& workload, int ranks);

}  // namespace trireme::bench
