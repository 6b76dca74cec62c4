#include "trireme/optim/schedule/plateau.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/check.h"

namespace trireme::optim {

Plateau::Plateau(const Options& options) : options_(options) {
  TRIREME_CHECK(
      options.factor >= 0 && options.factor <= 1 && options.patience >= 0 && options.cooldown >= 0,
      "a factor of ", options.factor, ", a patience of ", options.patience, ", a cooldown of ",
      options.cooldown);
}

bool Plateau::is_better(double metric, double best) const noexcept {
  if (std::isnan(best)) return !std::isnan(metric);
  return options_.is_larger_better ? metric > best * (1 + options_.threshold)
                                   : metric < best * (1 - options_.threshold);
}

Plateau::State Plateau::after(State state, double metric) const noexcept {
  if (is_better(metric, state.best)) {
    state.best = metric;
    state.bad = 0;
  } else {
    ++state.bad;
  }
  if (state.cooling > 0) {
    --state.cooling;
    state.bad = 0;
  }
  if (state.bad > options_.patience) {
    state.factor = std::max(options_.min_lr_factor, state.factor * options_.factor);
    state.cooling = options_.cooldown;
    state.bad = 0;
  }
  return state;
}

}  // namespace trireme::optim
