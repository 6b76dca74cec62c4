// Returned are samples that were dealt in a step and not used: they come again.
//
// Threads: a value.

#pragma once

#include <cstdint>

#include "trireme/data/deal.h"

namespace trireme::data {

struct Returned {
  std::int64_t epoch = 0;
  Range samples;  // in the epoch's order

  friend bool operator==(const Returned&, const Returned&) = default;
};

// The part `index` of `count` alike.
inline Returned part_of(const Returned& whole, std::int64_t index, std::int64_t count) {
  const std::int64_t n = whole.samples.count();
  return {.epoch = whole.epoch,
          .samples = {whole.samples.begin + n * index / count,
                      whole.samples.begin + n * (index + 1) / count}};
}

}  // namespace trireme::data
