// Position is how far a job has read: `cursor` samples of epoch `epoch` were given. It is all that
// a checkpoint keeps of its data, since the order of samples is arithmetic.
//
// Threads: a value.

#pragma once

#include <cstdint>

namespace trireme::data {

struct Position {
  std::int64_t epoch = 0;
  std::int64_t cursor = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace trireme::data
