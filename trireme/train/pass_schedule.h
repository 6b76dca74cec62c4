// PassSchedule lists the passes that a rank runs in one step, in order. It is pure data: an
// Executor runs it.
//
//   forward_backward(2)   forward 0, backward 0, forward 1, backward 1: gradient accumulation
//
// REQUIRES of every schedule: each micro-batch has one forward pass, and later one backward pass.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trireme::train {

struct Pass {
  enum class Kind : std::uint8_t { Forward, Backward };

  Kind kind = Kind::Forward;
  std::size_t micro_batch = 0;  // index among those of this replica

  friend bool operator==(const Pass&, const Pass&) = default;
};

using PassSchedule = std::vector<Pass>;

// Runs the micro-batches one after another, so that only one of them has activations in memory.
inline PassSchedule forward_backward(std::size_t micro_batches) {
  PassSchedule passes;
  for (std::size_t i = 0; i < micro_batches; ++i) {
    passes.push_back({.kind = Pass::Kind::Forward, .micro_batch = i});
    passes.push_back({.kind = Pass::Kind::Backward, .micro_batch = i});
  }
  return passes;
}

}  // namespace trireme::train
