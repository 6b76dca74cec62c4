// RoundEnd says when a round of replicas is over: after so many steps, or sooner, when a rank has
// been at it for long enough or has gone far enough from where the round began.
//
//   RoundEnd end({.steps = 16, .end = {.schedule = {"1000=64"}}});
//   end.begin_step(step);
//   ... if (end.is_last(step) || anybody's is_wanted(distance)) { bring together; end.ended(step);
//   }
//
// Numbers of steps alone are a function of the step, so that a resumed job ends its rounds where
// the uninterrupted one does. Where time or distance decide, a resumed job begins a round.
//
// Threads: one.

#pragma once

#include <cstdint>
#include <map>

#include "trireme/base/clock.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

class RoundEnd {
 public:
  // Throws InvalidInput for a schedule that is none.
  explicit RoundEnd(const Pace& pace, const Clock& clock = steady_clock());

  // Whether ranks have to ask each other: one may want an end that the others cannot know of.
  bool is_asked_for() const noexcept { return limits_.seconds > 0 || limits_.divergence > 0; }
  bool needs_distance() const noexcept { return limits_.divergence > 0; }

  void begin_step(std::int64_t step);
  // Whether this rank wants the round to end with this step; distance: of its weights from those at
  // the round's beginning, as a share of their norm.
  bool is_wanted(double distance) const;
  // Whether it ends with this step by its number. REQUIRES: begin_step(step).
  bool is_last(std::int64_t step) const;
  // Whether the part `index` of `count`, each with its turn in a round, has it with this step; the
  // last one's is the round's end. REQUIRES: begin_step(step).
  bool is_turn(std::int64_t step, std::int64_t index, std::int64_t count) const;
  void ended(std::int64_t step);

  // The first step of the round, and another rank's: all end it together. -1: none was begun.
  std::int64_t began() const noexcept { return began_; }
  void go_along(std::int64_t began);

 private:
  std::int64_t length_from(std::int64_t step) const;

  std::map<std::int64_t, std::int64_t> lengths_;  // by the step from which on it counts
  std::int64_t first_;                            // step that is of a round
  RoundLimits limits_;
  const Clock& clock_;
  std::int64_t began_ = -1;  // no step was begun
  TimePoint since_{};
};

}  // namespace trireme::parallel::local
