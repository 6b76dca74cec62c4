// Rotary positions: pairs of a head's values turn with a token's place, each pair at a frequency of
// its own. What scaling stretches, for texts longer than a model was trained on, are frequencies.
//
// Threads: pure.

#pragma once

#include <cstdint>
#include <vector>

namespace trireme::model {

enum class RopeScaling {
  None,
  Linear,  // all frequencies over the factor
  Llama3,  // slow ones over the factor, fast ones as they are, and smoothly between
};

struct RopeOptions {
  std::int64_t head_width = 2;
  double base = 10000;
  RopeScaling scaling = RopeScaling::None;
  double factor = 1;
  double low_frequency = 1;              // Llama3: turns in the original context, below which all
  double high_frequency = 4;             //         of the factor counts, and above which none
  std::int64_t original_context = 8192;  //         tokens
};

// Radians a token, for each of head_width / 2 pairs, fastest first.
std::vector<double> rope_frequencies(const RopeOptions& options);

}  // namespace trireme::model
