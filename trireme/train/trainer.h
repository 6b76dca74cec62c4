// Trainer runs a job from its current step to its end: steps, evaluations, checkpoints and reports.
//
//   SavedJob         checkpoints
//   Evaluations      scores of the weights, and what follows from them
//   NonFinitePolicy  what follows a step that was not finite
//   Recovery         workers that fail, leave and join
//
// Elastic jobs:  with an ElasticWorld, workers may die, leave and join during training: see
//                Recovery. A worker that the job no longer wants ends with
//                TrainingOutcome::Dismissed.
// Stopping:      when `is_stop_wanted` turns true, the current step is finished, an evaluation is
//                given up between two batches, a checkpoint is written, and run() returns
//                TrainingOutcome::Stopped.
// Errors:        Diverged if a result is not finite and the recipe says to stop; otherwise what the
//                parts throw. The last checkpoint is intact in every case.
// Thread safety: one thread; `is_stop_wanted` may be set by any thread or by a signal handler.

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trireme/train/balance/balancer.h"
#include "trireme/train/evaluate/evaluations.h"
#include "trireme/train/job.h"
#include "trireme/train/non_finite_policy.h"
#include "trireme/train/recovery/recovery.h"
#include "trireme/train/report/reporter.h"
#include "trireme/train/report/step_times.h"
#include "trireme/train/saved_job.h"

namespace trireme::train {

enum class TrainingOutcome { Done, Stopped, NoBetter, Dismissed };

class Trainer {
 public:
  struct Options {
    std::filesystem::path output{};  // the job's folder
    // Continues from the newest intact checkpoint in `output`. Without any checkpoint the job
    // begins at step 0, with a warning. run() throws InvalidInput if all checkpoints are damaged.
    bool is_resumed = false;
    // Settings that affect the result and that may still differ from those of the checkpoint.
    std::vector<std::string> allowed_changes{};
    // Saves the recipe in the job's folder. Called on rank 0 after the job began or was resumed, if
    // steps remain: a finished job keeps the recipe that it was trained with.
    std::function<void()> keep_recipe{};
    const std::atomic<bool>* is_stop_wanted = nullptr;
    Reporter* reporter = nullptr;
    Faults* faults = nullptr;
    ElasticWorld* world = nullptr;  // already joined; null: the job is not elastic
    std::function<void(std::int64_t step)> before_step{};
    // Called when this rank has finished a step, either normally or during a recovery.
    std::function<void(const Progress&, const Outcome&)> after_step{};
  };

  Trainer(Job& job, Options options);

  TrainingOutcome run();
  const Progress& progress() const noexcept { return state_.progress; }
  // The job's folder is open and the first weights are there.
  bool has_begun() const noexcept { return state_.is_open; }
  // Of the last evaluation.
  const std::optional<Scores>& scores() const noexcept { return evaluations_.scores(); }

 private:
  void begin();
  TrainingOutcome train();
  Outcome run_step();
  TrainingOutcome attend();
  TrainingOutcome finish(TrainingOutcome ending);
  bool evaluate();
  void survive();
  void take_change(const Recovery::Incident& incident);
  void adopt(const JobState& all);
  void regroup();
  void advance(const Outcome& outcome);
  void count(const Outcome& outcome);
  void count_time() { state_.progress.seconds += watch_.lap(); }
  void compare_ranks();
  bool is_save_due() const;
  bool is_over() const;
  const std::atomic<bool>& is_stop_wanted() const;

  Job& job_;
  Options options_;
  const std::atomic<bool> never_{false};
  JobState state_;
  Stopwatch watch_;  // since state_.progress.seconds
  SavedJob saved_;
  NonFinitePolicy non_finite_;
  Evaluations evaluations_;
  Balancer balancer_;
  std::optional<Recovery> recovery_;
  bool is_change_wanted_ = false;
  bool is_ending_ = false;    // this rank's part of the last checkpoint is written
  bool is_finished_ = false;  // the parts of all ranks are written
};

}  // namespace trireme::train
