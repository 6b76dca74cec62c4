// Position is how far a job has read: `cursor` samples of epoch `epoch` were returned. A checkpoint
// needs nothing else about its data, because the order of samples is computed.
//
// Thread safety: a value type.

#pragma once

#include <cstdint>

namespace trireme::data {

struct Position {
  std::int64_t epoch = 0;
  std::int64_t cursor = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace trireme::data
