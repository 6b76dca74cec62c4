#include "trireme/base/liveness.h"

#include <algorithm>

namespace trireme {

Liveness::Report Liveness::report() const noexcept {
  // A long phase ends after the move that it counts: a reader that sees the end must also see the
  // move. The counters are therefore read in this order.
  const bool is_in_long_phase = long_phases_.load() > 0;
  const bool is_waiting = waits_.load() > 0;
  return {.moves = moves_.load(),
          .is_waiting = is_waiting,
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
