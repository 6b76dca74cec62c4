#include "trireme/train/balance/balance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trireme/base/check.h"

namespace trireme::train {
namespace {

// How far a look moves the shares towards what it saw: speeds are measured with noise.
constexpr double kGain = 0.7;
// By one look: one that did little says little of how fast it is.
constexpr double kFactorMin = 0.25;
constexpr double kFactorMax = 2;
// Changes of less than this part of a share are noise, too.
constexpr double kNoise = 0.05;
// The least that a rank gets, of a fair share.
constexpr double kLeast = 1.0 / 32;
// What moves at once, of a fair share.
constexpr double kUnit = 1.0 / 16;

void normalize(std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
}

}  // namespace

std::string Balance::mistake_in(const BalanceSettings& config, int ranks) {
  if (config.kind != BalanceKind::Static) return {};
  if (std::ssize(config.weights) == ranks) return {};
  return "balance.weights has " + std::to_string(config.weights.size()) + " numbers, and there " +
         (ranks == 1 ? "is 1 rank" : "are " + std::to_string(ranks) + " ranks");
}

Balance::Balance(const BalanceSettings& config, int ranks)
    : kind_(config.kind), shares_(static_cast<std::size_t>(ranks), 1) {
  TRIREME_CHECK(mistake_in(config, ranks).empty(), mistake_in(config, ranks));
  if (kind_ == BalanceKind::Static) shares_ = config.weights;
  normalize(shares_);
}

bool Balance::follow(std::span<const Pace> paces) {
  TRIREME_CHECK(paces.size() == shares_.size(), paces.size(), " paces of ", shares_.size());
  if (kind_ != BalanceKind::Proportional && kind_ != BalanceKind::LeastLoaded) return false;
  // Nobody did anything since: all have just begun together.
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
  // Of those that had something to do; how long the others waited about says nothing.
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
    // By how long it worked and not by its samples a second: what a step costs whatever its
    // samples would look like slowness, the more the fewer they are.
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
