// Timeouts defines how long a rank waits for other ranks. All of these waits are derived from one
// value, the timeout of a collective, which is `sync.timeout` in a recipe.
//
//   | a rank waits                                                  | at most                  |
//   | for a batch of its own data loader                            | loader = 0.8x collective |
//   | in a collective                                               | collective               |
//   | for its own step, if no other rank waits for it               | step = 2 x collective    |
//   | in rank 0's writer, for another rank's part of a checkpoint   | part = 6 x collective    |
//   | for its own writer to finish the previous checkpoint          | writer = 7 x collective  |
//   | for ranks that open data or read or write checkpoints         | files = 8 x collective   |
//   | for its own long phase, if no other rank waits for it         | phase = 9 x collective   |
//
// A rank waits for its own step or long phase (an evaluation, reading or writing files) in elastic
// jobs: if it makes no progress for so long, it ends itself and is replaced.
//
// A wait that contains another wait is longer than it: a rank in a collective also waits for the
// data of its peers, which may enter their loaders a little later. The innermost wait therefore
// times out first, and the error that the user sees names the cause: the data source that does not
// answer or the part that is missing, not a collective of another rank.

#pragma once

#include <chrono>

#include "trireme/base/clock.h"

namespace trireme::comm {

struct Timeouts {
  static constexpr Duration kCollective = std::chrono::minutes(5);

  Duration collective = kCollective;

  constexpr Duration loader() const noexcept { return collective * 4 / 5; }
  constexpr Duration step() const noexcept { return 2 * collective; }
  constexpr Duration part() const noexcept { return 6 * collective; }
  constexpr Duration writer() const noexcept { return 7 * collective; }
  constexpr Duration files() const noexcept { return 8 * collective; }
  constexpr Duration phase() const noexcept { return 9 * collective; }
};

}  // namespace trireme::comm
