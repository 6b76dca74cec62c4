#include "trireme/monitor/histogram.h"

#include <algorithm>
#include <cmath>

namespace trireme::monitor {

// Class 0 holds zero and values below the range; class 1 + 4 * e + q holds the values in
// (2^(e+min) * (1 + q/4), 2^(e+min) * (1 + (q+1)/4)].
std::size_t Histogram::class_of(double value) noexcept {
  if (!(value > std::ldexp(1.0, kExponentMin))) return 0;
  if (value >= std::ldexp(1.0, kExponentMax)) return kClasses - 1;
  int exponent = 0;
  const double fraction = 2 * std::frexp(value, &exponent);  // [1, 2), value = fraction * 2^(e-1)
  const auto quarters = static_cast<int>(std::ceil((fraction - 1) * kClassesAPower));
  const int power = exponent - 1 - kExponentMin;
  return static_cast<std::size_t>(static_cast<int>(kClassesAPower) * power + quarters);
}

double Histogram::bound_of(std::size_t index) noexcept {
  if (index == 0) return std::ldexp(1.0, kExponentMin);
  const std::size_t power = (index - 1) / kClassesAPower;
  const std::size_t quarters = (index - 1) % kClassesAPower + 1;
  const double fraction = 1 + static_cast<double>(quarters) / kClassesAPower;
  return std::ldexp(fraction, static_cast<int>(power) + kExponentMin);
}

void Histogram::add(double value) noexcept {
  if (!(value > 0)) value = 0;
  counts_[class_of(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  double max = max_.load(std::memory_order_relaxed);
  while (value > max && !max_.compare_exchange_weak(max, value, std::memory_order_relaxed)) {
  }
}

Histogram::Snapshot Histogram::snapshot() const noexcept {
  Snapshot snapshot;
  for (std::size_t i = 0; i < kClasses; ++i) {
    snapshot.counts[i] = counts_[i].load(std::memory_order_relaxed);
    snapshot.count += snapshot.counts[i];
  }
  snapshot.sum = sum_.load(std::memory_order_relaxed);
  snapshot.max = max_.load(std::memory_order_relaxed);
  return snapshot;
}

double Histogram::Snapshot::quantile(double fraction) const noexcept {
  if (count == 0) return 0;
  const double wanted = std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kClasses; ++i) {
    seen += counts[i];
    if (seen > 0 && static_cast<double>(seen) >= wanted) return std::min(bound_of(i), max);
  }
  return max;
}

}  // namespace trireme::monitor
