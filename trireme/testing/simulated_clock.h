// SimulatedClock is a clock that a test advances. It replaces the machine's clock in protocols that
// take a `const Clock&`.
//
// Thread safety: one thread; simulations run on a single thread so that they can be replayed.

#pragma once

#include "trireme/base/check.h"
#include "trireme/base/clock.h"

namespace trireme::testing {

class SimulatedClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }

  // REQUIRES: `when` is not in the past.
  void advance_to(TimePoint when) {
    TRIREME_CHECK(when >= now_, "time only goes on");
    now_ = when;
  }
  void advance(Duration time) { advance_to(now_ + time); }

 private:
  TimePoint now_{};
};

}  // namespace trireme::testing
