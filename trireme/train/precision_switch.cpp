#include "trireme/train/precision_switch.h"

#include <algorithm>
#include <cmath>

namespace trireme::train {
namespace {

constexpr double kKept = 0.98;            // the weight of the old mean when a loss is added
constexpr std::int64_t kSeenBefore = 20;  // losses before a loss can count as a jump

}  // namespace

Precision PrecisionSwitch::at(const State& state, std::int64_t step) const noexcept {
  const bool is_wide = step < config_.fp32_steps || step < state.float32_until;
  return is_wide ? Precision::Float32 : config_.precision;
}

bool PrecisionSwitch::went_wrong(const State& state, double loss, bool is_finite) const {
  if (!std::isfinite(loss)) return true;
  if (!is_finite && config_.precision != Precision::Float16) return true;
  const double usual = config_.fallback_jump * std::sqrt(state.variance);
  return config_.fallback_jump > 0 && state.seen >= kSeenBefore && loss > state.mean + usual;
}

PrecisionSwitch::State PrecisionSwitch::after(State state, std::int64_t step, double loss,
                                              bool is_finite) const {
  if (config_.fallback_steps == 0) return state;
  const bool is_wrong = went_wrong(state, loss, is_finite);
  if (is_wrong && at(state, step) != Precision::Float32) {
    state.float32_until = step + 1 + config_.fallback_steps;
    // Later losses may be at another level, and compared with the old mean all would be jumps.
    state.seen = 0;
    return state;
  }
  if (!std::isfinite(loss)) return state;
  const double off = state.seen == 0 ? 0 : loss - state.mean;
  // A plain mean at first, so that the first loss does not have too much weight.
  const double kept =
      std::min(kKept, static_cast<double>(state.seen) / static_cast<double>(state.seen + 1));
  state.mean = state.seen == 0 ? loss : state.mean + (1 - kept) * off;
  state.variance = state.seen == 0 ? 0 : kept * (state.variance + (1 - kept) * off * off);
  ++state.seen;
  return state;
}

}  // namespace trireme::train
