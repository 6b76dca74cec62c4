#include "trireme/base/liveness.h"

#include <algorithm>

namespace trireme {

Liveness::Report Liveness::report() const noexcept {
  // A long phase ends after the move that it counts: a reader that sees the end must also see the
  // move. The counters are therefore read in this order, and likewise the ends of waits before
  // their beginnings.
  const bool is_in_long_phase = long_phases_.load() > 0;
  const std::uint64_t waits_ended = waits_ended_.load();
  const std::uint64_t waits = waits_begun_.load();
  return {.moves = moves_.load(),
          .waits = waits,
          .is_waiting = waits > waits_ended,
          .is_in_long_phase = is_in_long_phase,
          .step = Duration(step_.load())};
}

void Liveness::end_step(Duration length) noexcept {
  const bool is_first = steps_ == 0;
  last_steps_[steps_++ % last_steps_.size()] = length;
  auto sorted = last_steps_;
  const auto count = static_cast<std::ptrdiff_t>(std::min(steps_, sorted.size()));
  std::nth_element(sorted.begin(), sorted.begin() + count / 2, sorted.begin() + count);
  step_.store(sorted[static_cast<std::size_t>(count / 2)].count());
  move();
  if (is_first) --long_phases_;
}

}  // namespace trireme
