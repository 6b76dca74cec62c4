// The random stream of one sample in one epoch, for one purpose.
//
// Thread safety: pure functions; any thread.

#pragma once

#include "trireme/base/random.h"
#include "trireme/data/source/source.h"

namespace trireme::data::transform {

inline Random random_of(const SampleKey& key, std::uint64_t purpose) {
  // An odd factor, so that streams of different epochs and different samples differ.
  const std::uint64_t stream = static_cast<std::uint64_t>(key.epoch) * 0x9E3779B97F4A7C15 +
                               static_cast<std::uint64_t>(key.sample);
  return Random(key.seed ^ purpose, stream);
}

}  // namespace trireme::data::transform
