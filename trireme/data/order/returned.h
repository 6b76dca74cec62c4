// Returned is a range of samples that were assigned in a step but not used; they are processed
// later.
//
// Thread safety: a value type.

#pragma once

#include <cstdint>

#include "trireme/data/order/sample_plan.h"

namespace trireme::data {

struct Returned {
  std::int64_t epoch = 0;
  Range samples;  // positions in the epoch's order

  friend bool operator==(const Returned&, const Returned&) = default;
};

// Part `index` of `count` equal parts.
inline Returned part_of(const Returned& whole, std::int64_t index, std::int64_t count) {
  const std::int64_t n = whole.samples.count();
  return {.epoch = whole.epoch,
          .samples = {whole.samples.begin + n * index / count,
                      whole.samples.begin + n * (index + 1) / count}};
}

}  // namespace trireme::data
