// Stopwatch divides time into laps without gaps, so that the laps add up to the whole.

#pragma once

#include <chrono>
#include <utility>

#include "trireme/base/clock.h"

namespace trireme::train {

class Stopwatch {
 public:
  // Seconds since the last lap, or since construction.
  double lap() {
    const TimePoint now = steady_clock().now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  TimePoint last_ = steady_clock().now();
};

}  // namespace trireme::train
