#include "trireme/train/balance/balance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trireme/base/check.h"

namespace trireme::train {
namespace {

// How far one comparison moves the shares towards the measured speeds, which are noisy.
constexpr double kGain = 0.7;
// Bounds for the change by one comparison: a replica that ran few samples has a less certain speed.
constexpr double kFactorMin = 0.25;
constexpr double kFactorMax = 2;
// Changes by less than this fraction of a share are ignored as noise.
constexpr double kNoise = 0.05;
// The smallest share of a replica, as a fraction of an even share.
constexpr double kLeast = 1.0 / 32;
// The unit that LeastLoaded moves, as a fraction of an even share.
constexpr double kUnit = 1.0 / 16;

void normalize(std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
}

}  // namespace

std::string Balance::mistake_in(const BalanceSettings& config, int replicas) {
  if (config.kind != BalanceKind::Static) return {};
  if (std::ssize(config.weights) == replicas) return {};
  return "balance.weights has " + std::to_string(config.weights.size()) + " numbers, but there " +
         (replicas == 1 ? "is 1 replica" : "are " + std::to_string(replicas) + " replicas");
}

Balance::Balance(const BalanceSettings& config, int replicas)
    : kind_(config.kind), shares_(static_cast<std::size_t>(replicas), 1) {
  TRIREME_CHECK(mistake_in(config, replicas).empty(), mistake_in(config, replicas));
  if (kind_ == BalanceKind::Static) shares_ = config.weights;
  normalize(shares_);
}

bool Balance::follow(std::span<const Pace> paces) {
  TRIREME_CHECK(paces.size() == shares_.size(), paces.size(), " paces of ", shares_.size());
  if (kind_ != BalanceKind::Proportional && kind_ != BalanceKind::LeastLoaded) return false;
  // A replica without working time has only just begun, and its speed is unknown.
  const auto is_idle = [](const Pace& pace) { return pace.seconds <= 0; };
  if (std::any_of(paces.begin(), paces.end(), is_idle)) return false;
  std::vector<double> next =
      kind_ == BalanceKind::Proportional ? proportional(paces) : least_loaded(paces);
  bool has_changed = false;
  for (std::size_t i = 0; i < next.size(); ++i) {
    has_changed |= std::abs(next[i] - shares_[i]) > kNoise * shares_[i];
  }
  if (has_changed) shares_ = std::move(next);
  return has_changed;
}

std::vector<double> Balance::proportional(std::span<const Pace> paces) const {
  // The mean is over replicas that ran samples, because the time of an idle one means nothing.
  double sum = 0;
  int busy = 0;
  for (const Pace& pace : paces) {
    if (pace.samples <= 0) continue;
    sum += pace.seconds;
    ++busy;
  }
  if (busy == 0) return shares_;
  const double mean = sum / busy;
  std::vector<double> next = shares_;
  const double least = kLeast / static_cast<double>(next.size());
  for (std::size_t i = 0; i < next.size(); ++i) {
    // Uses the working time and not samples per second: the fixed cost of a step would make a
    // replica look slower the fewer samples it has.
    const double factor =
        paces[i].samples > 0 ? std::pow(mean / paces[i].seconds, kGain) : kFactorMax;
    next[i] = std::max(least, shares_[i] * std::clamp(factor, kFactorMin, kFactorMax));
  }
  normalize(next);
  return next;
}

std::vector<double> Balance::least_loaded(std::span<const Pace> paces) const {
  const auto less = [](const Pace& one, const Pace& other) { return one.seconds < other.seconds; };
  const auto slow =
      static_cast<std::size_t>(std::max_element(paces.begin(), paces.end(), less) - paces.begin());
  const auto idle =
      static_cast<std::size_t>(std::min_element(paces.begin(), paces.end(), less) - paces.begin());
  std::vector<double> next = shares_;
  const double unit = kUnit / static_cast<double>(next.size());
  if (slow == idle || next[slow] <= unit) return next;
  const double after = paces[idle].seconds * (1 + unit / next[idle]);
  if (after >= paces[slow].seconds) return next;
  next[slow] -= unit;
  next[idle] += unit;
  return next;
}

}  // namespace trireme::train
