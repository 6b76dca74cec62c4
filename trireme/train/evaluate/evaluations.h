// Evaluations evaluates a job's weights on its test data during training, and keeps the score in
// the job's state: the best one, for checkpoints and patience, and what the learning rate follows
// with schedule.kind = "reduce_on_plateau".
//
// Errors:        what evaluating throws.
// Thread safety: one thread. run() is a collective.
// Lifetime:      the parts must outlive this object.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "trireme/optim/schedule/plateau.h"
#include "trireme/train/evaluate/scores.h"
#include "trireme/train/job.h"
#include "trireme/train/recovery/job_state.h"
#include "trireme/train/report/reporter.h"

namespace trireme::train {

class Evaluations {
 public:
  struct Parts {
    Job* job;
    JobState* state;
    Reporter* reporter;
    const std::atomic<bool>* is_stop_wanted;
  };
  explicit Evaluations(Parts parts);

  // Whether the current weights can be evaluated, and are not yet.
  bool are_open() const;
  // False if the evaluation was given up because the job has to stop.
  bool run();
  // Whether an evaluation is due after this step, without those at the end of a job.
  bool are_due() const;
  // Whether training may continue although the last evaluations were not better (eval.patience).
  bool has_patience() const;
  // Of the last evaluation.
  const std::optional<Scores>& scores() const noexcept { return scores_; }

 private:
  std::optional<Scores> scores_of_weights();
  void compare_with_best();
  void follow_plateau();

  Parts parts_;
  std::optional<Scores> scores_;
  std::optional<optim::Plateau> plateau_;
};

}  // namespace trireme::train
