// Rotary positions: pairs of values in a head are rotated according to the token's position, each
// pair at its own frequency. Scaling changes the frequencies, for texts longer than those in
// training.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <vector>

namespace trireme::model {

enum class RopeScaling {
  None,
  Linear,  // divides all frequencies by the factor
  Llama3,  // divides low frequencies by the factor, keeps high ones, smooth in between
};

struct RopeOptions {
  std::int64_t head_width = 2;
  double base = 10000;
  RopeScaling scaling = RopeScaling::None;
  double factor = 1;
  // Llama3: the full factor applies below low_frequency rotations in the original context, and no
  // scaling above high_frequency rotations. original_context is in tokens.
  double low_frequency = 1;
  double high_frequency = 4;
  std::int64_t original_context = 8192;
};

// Radians per token, for each of head_width / 2 pairs, fastest first.
std::vector<double> rope_frequencies(const RopeOptions& options);

}  // namespace trireme::model
