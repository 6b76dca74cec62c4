#include "trireme/optim/schedule/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trireme/base/check.h"

namespace trireme::optim {
namespace {

// Interpolates between two values along half a cosine.
double swing(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

}  // namespace

Schedule::Schedule(const Options& options) : options_(options) {
  TRIREME_CHECK(options.rate >= 0 && options.warmup >= 0 && options.every >= 1, "a rate of ",
                options.rate, ", a warm-up of ", options.warmup, ", drops every ", options.every);
  TRIREME_CHECK(options.growth >= 1, "rounds that grow by ", options.growth);
}

double Schedule::rate(std::int64_t step) const noexcept {
  const Options& o = options_;
  if (step < o.warmup) {
    return o.rate * static_cast<double>(step + 1) / static_cast<double>(o.warmup);
  }
  return o.rate * factor_at(step - o.warmup);
}

double Schedule::factor_at(std::int64_t since) const noexcept {
  const Options& o = options_;
  const auto passed = static_cast<double>(since);
  const auto length = static_cast<double>(std::max<std::int64_t>(1, o.steps - o.warmup));
  const double share = std::min(1.0, passed / length);
  switch (o.kind) {
    case Kind::Constant:
      return 1;
    case Kind::Step:
      return std::pow(o.factor, static_cast<double>(since / o.every));
    case Kind::Linear:
      return 1 + (o.min_lr_factor - 1) * share;
    case Kind::Cosine:
      return swing(1, o.min_lr_factor, share);
    case Kind::Exponential:
      return std::pow(o.factor, passed);
    case Kind::Polynomial:
      return o.min_lr_factor + (1 - o.min_lr_factor) * std::pow(1 - share, o.power);
    case Kind::InverseSqrt: {
      const auto warmup = static_cast<double>(std::max<std::int64_t>(1, o.warmup));
      return std::sqrt(warmup / (passed + static_cast<double>(o.warmup) + 1));
    }
    case Kind::OneCycle:
      return one_cycle_at(passed, length);
    case Kind::WarmRestarts:
      return warm_restarts_at(since);
  }
  return 1;
}

// The last step has the smallest rate: PyTorch counts from 0 to the number of steps minus 1.
double Schedule::one_cycle_at(double since, double length) const noexcept {
  const Options& o = options_;
  const double top = std::max(0.0, o.pct_start * length - 1);
  const double end = std::max(top + 1, length - 1);
  if (since < top) return swing(o.start_factor, 1, since / top);
  return swing(1, o.min_lr_factor, std::min(1.0, (since - top) / (end - top)));
}

double Schedule::warm_restarts_at(std::int64_t since) const noexcept {
  std::int64_t round = options_.every;
  if (options_.growth == 1) since %= round;
  while (since >= round) {
    since -= round;
    round *= options_.growth;
  }
  return swing(1, options_.min_lr_factor, static_cast<double>(since) / static_cast<double>(round));
}

}  // namespace trireme::optim
