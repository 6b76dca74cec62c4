// StepTimes says where the time of a step went; StepTimer measures it.
//
// Thread safety: one thread per object.

#pragma once

#include <utility>

#include "trireme/train/report/stopwatch.h"

namespace trireme::train {

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
