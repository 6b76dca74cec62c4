// Clock is where time comes from: the machine's steady clock, or a simulated one in tests.
//
// Code that only measures uses steady_clock(); protocols that must replay from a seed take a
// `const Clock&` and ask nothing else what time it is.
//
// Threads: now() may be called from any thread.

#pragma once

#include <chrono>

namespace trireme {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

// The machine's monotonic clock. Lives as long as the process and holds no state.
const Clock& steady_clock() noexcept;

// Seconds since 1970 by the wall clock, for records that people read; never for waiting.
double wall_seconds() noexcept;

}  // namespace trireme
