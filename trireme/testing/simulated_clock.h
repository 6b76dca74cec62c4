// SimulatedClock is a clock that a test moves. Protocols that take a `const Clock&` cannot tell it
// from the machine's.
//
// Threads: one; simulations run on a single thread so that they replay.

#pragma once

#include "trireme/base/check.h"
#include "trireme/base/clock.h"

namespace trireme::testing {

class SimulatedClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }

  // REQUIRES: not back.
  void advance_to(TimePoint when) {
    TRIREME_CHECK(when >= now_, "time only goes on");
    now_ = when;
  }
  void advance(Duration time) { advance_to(now_ + time); }

 private:
  TimePoint now_{};
};

}  // namespace trireme::testing
