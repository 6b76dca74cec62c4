// Clock is a source of time: the machine's steady clock, or a simulated clock in tests.
//
// Code that only measures durations uses steady_clock(). Protocols that must be replayable from a
// seed take a `const Clock&` and use no other source of time.
//
// Thread safety: now() may be called from any thread.

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

// The machine's monotonic clock. It is stateless and lives as long as the process.
const Clock& steady_clock() noexcept;

// Wall-clock seconds since 1970, for records that people read. Do not use it for timeouts.
double wall_seconds() noexcept;

}  // namespace trireme
