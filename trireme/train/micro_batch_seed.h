// micro_batch_seed() is what torch's own generator is seeded with before a slot runs, so that
// layers that draw from it (torch::dropout in a wrapped module) do so as a function of the seed,
// the update and the slot: the same on every layout of ranks with the same slots, and after a
// resume.
//
// Threads: pure.

#pragma once

#include <cstdint>

#include "trireme/base/philox.h"

namespace trireme::train {

constexpr std::uint64_t micro_batch_seed(std::uint64_t seed, std::int64_t updates,
                                         int micro_batch) noexcept {
  // Apart from the streams of parameters, dropout and data, which share the seed.
  constexpr std::uint64_t kPurpose = 0x736C6F7473656564;
  const PhiloxBlock block = philox(
      philox_key(seed ^ kPurpose),
      philox_counter(static_cast<std::uint64_t>(updates), static_cast<std::uint64_t>(micro_batch)));
  return std::uint64_t{block[0]} << 32 | block[1];
}

}  // namespace trireme::train
