// StepTimes says where the time of a step went; StepTimer and Stopwatch measure it.
//
// Thread safety: one thread per object.

#pragma once

#include <chrono>
#include <utility>

#include "trireme/base/clock.h"

namespace trireme::train {

// Divides time into laps without gaps, so that the laps add up to the whole.
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

// In seconds. The parts add up to the duration of the step.
struct StepTimes {
  double data = 0;  // waiting for batches
  double forward = 0;
  double backward = 0;
  double wait = 0;  // for other ranks
  double update = 0;

  double total() const noexcept { return data + forward + backward + wait + update; }
  StepTimes& operator+=(const StepTimes& other) noexcept {
    data += other.data;
    forward += other.forward;
    backward += other.backward;
    wait += other.wait;
    update += other.update;
    return *this;
  }
};

class StepTimer {
 public:
  // Adds the time since the last call to a part.
  void book(double StepTimes::* part) { times_.*part += watch_.lap(); }

  // Of a pass, the time in which it waited for other ranks counts as waiting. `waited`: the seconds
  // that all passes have waited so far; begin_passes() sets it before the first one.
  void begin_passes(double waited) { waited_ = waited; }
  void book_pass(double StepTimes::* part, double waited) {
    const double waiting = waited - std::exchange(waited_, waited);
    times_.*part += watch_.lap() - waiting;
    times_.wait += waiting;
  }

  const StepTimes& times() const noexcept { return times_; }

 private:
  StepTimes times_;
  Stopwatch watch_;
  double waited_ = 0;
};

}  // namespace trireme::train
