// RoundExchange combines replicas: it performs the actions of rounds (round_action.h), each of
// which completes on all ranks or on none.
//
//   exchange.begin_step(step);
//   exchange.end_round(turn);      // sends the fragments that are due, and applies means that came
//   exchange.join();               // the end of the job: replicas become one
//
// An action first gathers everything that it writes. No parameter changes before all ranks have
// gathered, and then every rank can complete the action without communication.
//
// In an elastic job end_round() and flush() ignore the loss of a rank: the step itself is complete,
// and recovery completes the action.
//
//   exchange.pause();              // a rank was lost; actions are noted, and not performed
//   exchange.settle(is_done);      // whether any rank has completed the action that is due
//   exchange.resume();             // performs it, with the new group
//
// Errors:        what Group throws.
// Thread safety: one thread at a time. The functions that perform actions are collectives.
// Lifetime:      the parts must outlive this object.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/parallel/independent_replicas.h"
#include "trireme/parallel/local/fragments.h"
#include "trireme/parallel/local/round/replica_marks.h"
#include "trireme/parallel/local/round/round_action.h"
#include "trireme/parallel/whole_state.h"

namespace trireme::parallel::local {

inline constexpr FaultPoint kRoundOver{"round.over"};     // the round ended; nothing is sent yet
inline constexpr FaultPoint kGathered{"round.gathered"};  // all values are here; none is written
inline constexpr FaultPoint kLanded{"round.landed"};      // this rank has written a fragment

class RoundExchange {
 public:
  struct Parts {
    IndependentReplicas& replicas;
    Fragments& fragments;
    ReplicaMarks& marks;
    bool is_elastic = false;
    Faults* faults = nullptr;
  };
  explicit RoundExchange(Parts parts) : parts_(parts), turn_(parts.fragments.count()) {}

  const Parts& parts() const noexcept { return parts_; }

  void begin_step(std::int64_t step);
  std::int64_t step() const noexcept { return step_; }

  // Without turns nothing happens.
  void end_round(const RoundTurn& turn);
  // All fragments land, before ranks join or leave. Nothing happens if an action is due, because
  // then ranks are lost anyway.
  void flush();
  void join();

  // Whether no replica has changed since they were combined.
  bool is_alike() const noexcept { return is_alike_; }
  void set_alike(bool is_alike) noexcept { is_alike_ = is_alike; }

  void pause() noexcept { is_paused_ = true; }
  // The last action that this rank has completed, or that it has yet to complete and a failed rank
  // of its replica had begun to write: that one counts as done, and all ranks complete it.
  RoundAction begun() const;
  RoundAction due() const noexcept { return due_; }
  // Completes the action that is due if any rank has; otherwise it starts again from the beginning.
  void settle(bool is_done);
  // Performs the action that is still due.
  void resume();

  // This rank's position in its rounds, which follow() adopts on another rank.
  std::vector<std::int64_t> position() const;
  void follow(std::span<const std::int64_t> position);

 private:
  const Replica& replica() const noexcept { return parts_.replicas.replica(); }
  bool is_shared() const;
  bool sends_at_once() const;
  void attempt(RoundAction action, const RoundTurn& turn);
  void perform(RoundAction action, const RoundTurn& turn);
  void perform_due();
  void gather();
  void write();

  Parts parts_;
  std::int64_t step_ = 0;
  RoundAction due_;   // the action that this rank has yet to complete
  RoundTurn turn_;    // of due_
  RoundAction done_;  // the last action that this rank completed
  bool is_alike_ = true;
  bool is_paused_ = false;
  bool is_gathered_ = false;          // everything that due_ needs is here
  WholeState joined_;                 // at the end of the job: mean values and state
  std::vector<at::Tensor> averaged_;  // the mean of the buffers, for a round or the end of the job
};

}  // namespace trireme::parallel::local
