// RoundEnd decides when a round of replicas ends: after its number of steps, or earlier, when the
// round has lasted long enough on a rank or a rank's weights have moved far enough since the round
// began.
//
//   RoundEnd end({.steps = 16, .end = {.schedule = {"1000=64"}}});
//   end.begin_step(step);
//   ... if (end.is_last(step) || is_wanted(distance) on any rank) { combine; end.ended(step); }
//
// If only the number of steps counts, the end of a round is a function of the step, so that a
// resumed job ends its rounds where the uninterrupted job does. If time or distance can end a
// round, a resumed job begins a new round.
//
// Errors:        the constructor throws InvalidInput for an invalid schedule.
// Thread safety: one thread at a time.

#pragma once

#include <cstdint>
#include <map>

#include "trireme/base/clock.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

class RoundEnd {
 public:
  explicit RoundEnd(const RoundSettings& pace, const Clock& clock = steady_clock());

  // Whether ranks must vote: a rank may want an end that the others cannot predict.
  bool is_asked_for() const noexcept { return limits_.is_asked_for(); }
  bool needs_distance() const noexcept { return limits_.divergence > 0; }

  void begin_step(std::int64_t step);
  // Whether this rank wants the round to end with this step. `distance`: of its weights from those
  // at the start of the round, relative to their norm.
  bool is_wanted(double distance) const;
  // Whether the round's number of steps ends it with this step. REQUIRES: begin_step(step).
  bool is_last(std::int64_t step) const;
  // Whether fragment `index` of `count` is synchronized in this step. Every fragment is
  // synchronized once per round, the last one at its end. REQUIRES: begin_step(step).
  bool is_turn(std::int64_t step, std::int64_t index, std::int64_t count) const;
  void ended(std::int64_t step);

  // The first step of the round; -1 before the first round. go_along() adopts another rank's, so
  // that both end the round in the same step.
  std::int64_t began() const noexcept { return began_; }
  void go_along(std::int64_t began);

 private:
  std::int64_t length_from(std::int64_t step) const;

  // The number of steps per round, by the first step that it applies to.
  std::map<std::int64_t, std::int64_t> lengths_;
  std::int64_t first_;  // step of the first round
  RoundLimits limits_;
  const Clock& clock_;
  std::int64_t began_ = -1;  // the first step of this round; -1: no step was begun
  TimePoint since_{};
};

}  // namespace trireme::parallel::local
