// NonFinitePolicy decides what follows a step whose loss or gradients are not finite: the job
// stops, the step is skipped, or training returns to the last checkpoint (train.non_finite); the
// next steps may run in float32 (train.fallback_steps).
//
//   step.precision = policy.precision();
//   ... policy.note(outcome);                 // of every step, before it is counted
//   ... policy.react();                       // after it
//
// Errors:        Diverged if the job has to stop.
// Thread safety: one thread. Every function but note() and precision() is a collective.
// Lifetime:      the parts must outlive this object.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/train/precision_switch.h"
#include "trireme/train/saved_job.h"

namespace trireme::train {

// What to do after steps that were not finite, in words. A checkpoint helps only if a job that is
// resumed from it with other settings makes an update before it comes to the first of these steps:
// otherwise that step has the same weights again. The program that started the job prints commands
// that follow the advice.
struct Divergence {
  std::int64_t first_step = 0;            // the first of the steps, counted from 1
  std::optional<std::int64_t> newest{};   // the step of the newest checkpoint
  std::optional<std::int64_t> helpful{};  // the step of the newest checkpoint that helps

  // A checkpoint of a later step does not help.
  static std::int64_t last_helpful(std::int64_t first_step) { return first_step - 2; }

  std::string advice(const config::Config& config) const;
};

class NonFinitePolicy {
 public:
  struct Parts {
    Job* job;
    JobState* state;
    SavedJob* saved;
    Reporter* reporter;
  };
  explicit NonFinitePolicy(Parts parts) : parts_(parts), precision_(parts.job->train()) {}

  // Of the next step.
  Precision precision() const;
  void note(const Outcome& outcome);
  // Handles a step that was noted and not finite. If a worker dies during this, all ranks call it
  // again.
  void react();
  // A gradient can be not finite although the loss is finite. With non_finite = "stop" gradients
  // are not checked, so every rank checks the weights that it saves before they replace good ones.
  void refuse_broken_weights(const std::vector<checkpoint::Piece>& saved);

 private:
  bool falls_back(const Outcome& outcome);
  void react_to(double loss);
  bool is_overflow(double loss) const;
  std::string text_of(double loss) const;
  bool roll_back();
  std::string advice();

  Parts parts_;
  PrecisionSwitch precision_;
};

}  // namespace trireme::train
