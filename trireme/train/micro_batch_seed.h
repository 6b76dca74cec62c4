// micro_batch_seed() is the seed of torch's own generator for one micro-batch. Layers that draw
// from that generator (torch::dropout in a wrapped module) then depend only on the seed, the update
// and the micro-batch: the same on any number of ranks with the same micro-batches, and after a
// resume.
//
// Thread safety: a pure function.

#pragma once

#include <cstdint>

#include "trireme/base/philox.h"

namespace trireme::train {

constexpr std::uint64_t micro_batch_seed(std::uint64_t seed, std::int64_t updates,
                                         int micro_batch) noexcept {
  // Makes this stream differ from those of parameters, dropout and data, which use the same seed.
  constexpr std::uint64_t kPurpose = 0x736C6F7473656564;
  const PhiloxBlock block = philox(
      philox_key(seed ^ kPurpose),
      philox_counter(static_cast<std::uint64_t>(updates), static_cast<std::uint64_t>(micro_batch)));
  return std::uint64_t{block[0]} << 32 | block[1];
}

}  // namespace trireme::train
