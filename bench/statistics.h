// Repeated timings, and statistics over them: pure functions, except now().
//
// A percentile is the smallest value that is not exceeded by at least this share of all values, so
// it is always one of the values.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::bench {

// Seconds of a clock that never goes back.
inline double now() {
  return std::chrono::duration<double>(steady_clock().now().time_since_epoch()).count();
}

// `share` in [0, 1]; 0.5 is the median. Returns 0 if there are no values.
inline double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const double count = static_cast<double>(values.size());
  const auto place = static_cast<std::size_t>(std::max(std::ceil(share * count), 1.0)) - 1;
  const auto found =
      values.begin() + static_cast<std::ptrdiff_t>(std::min(place, values.size() - 1));
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

inline double median(std::vector<double> values) {
  return percentile(std::move(values), 0.5);
}

// The median of one figure over the rounds of a contender.
template <class Round, class Figure>
double median_of(const std::vector<Round>& rounds, const Figure& figure) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(static_cast<double>(figure(round)));
  return median(std::move(values));
}

// The median of the ratios of rounds that ran next to each other, above / below. Rounds in which
// `below` is 0 are ignored.
template <class Round, class Figure>
double median_ratio(const std::vector<Round>& above, const std::vector<Round>& below,
                    const Figure& figure) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(above.size(), below.size()); ++i) {
    if (figure(below[i]) > 0) ratios.push_back(figure(above[i]) / figure(below[i]));
  }
  return median(std::move(ratios));
}

// Combines the seconds that ranks need for equal work into one figure for all of them. Values of 0
// are ignored.
inline double harmonic_mean(const std::vector<double>& values) {
  double rates = 0;
  double count = 0;
  for (double value : values) {
    if (value <= 0) continue;
    rates += 1 / value;
    count += 1;
  }
  return count == 0 ? 0 : count / rates;
}

}  // namespace trireme::bench
