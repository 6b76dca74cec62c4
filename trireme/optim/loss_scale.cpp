#include "trireme/optim/loss_scale.h"

#include <algorithm>

#include "trireme/base/check.h"

namespace trireme::optim {

LossScale::LossScale() : LossScale(Options{}) {}

LossScale::LossScale(const Options& options) : options_(options) {
  TRIREME_CHECK(options.initial > 0 && options.growth >= 1 && options.backoff > 0 &&
                    options.backoff <= 1 && options.interval >= 1,
                "loss scale ", options.initial, ", growth ", options.growth, ", backoff ",
                options.backoff, ", interval ", options.interval);
  state_.scale = options.initial;
}

bool LossScale::update(bool is_finite) noexcept {
  if (!is_finite) {
    state_.scale = std::max(options_.least, state_.scale * options_.backoff);
    state_.good_steps = 0;
    return false;
  }
  if (++state_.good_steps >= options_.interval) {
    state_.scale = std::min(options_.most, state_.scale * options_.growth);
    state_.good_steps = 0;
  }
  return true;
}

}  // namespace trireme::optim
