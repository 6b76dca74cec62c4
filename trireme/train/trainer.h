// Trainer runs a job from its current step to its end: steps, evaluations, checkpoints and reports.
//
// Resuming:      a job that was killed and is resumed from its last checkpoint ends with bitwise
//                the same weights as an uninterrupted job, because everything random is a function
//                of the seed and the position.
// Elastic jobs:  with an ElasticWorld, workers may die, leave and join during training: see
//                Recovery. A worker that the job no longer wants ends with Ending::Dismissed.
// Stopping:      when `is_stop_wanted` turns true, the current step is finished, an evaluation is
//                given up between two batches, a checkpoint is written, and run() returns
//                Ending::Stopped.
// Errors:        Diverged if a result is not finite and the recipe says to stop; otherwise what the
//                parts throw. The last checkpoint is intact in every case.
// Thread safety: one thread; `is_stop_wanted` may be set by any thread or by a signal handler.

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/optim/schedule/plateau.h"
#include "trireme/train/balance/balancer.h"
#include "trireme/train/job.h"
#include "trireme/train/job_checkpoints.h"
#include "trireme/train/recovery/recovery.h"
#include "trireme/train/report/progress.h"
#include "trireme/train/report/reporter.h"
#include "trireme/train/report/stopwatch.h"

namespace trireme::train {

enum class Ending { Done, Stopped, NoBetter, Dismissed };

class Trainer {
 public:
  struct Options {
    std::filesystem::path output{};  // the job's folder
    // Continues from the newest intact checkpoint in `output`. Without any checkpoint the job
    // begins at step 0, with a warning. Throws InvalidInput if all checkpoints are damaged.
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

  Ending run();
  const Progress& progress() const noexcept { return progress_; }
  // Of the last evaluation.
  const std::optional<Scores>& scores() const noexcept { return scores_; }

 private:
  void open();
  Ending train();
  Ending attend();
  Ending finish(Ending ending);
  void survive();
  void tell(const Recovery::Incident& incident);
  void wait_for_workers();
  JobState job_state() const;
  void adopt(const JobState& job_state);
  // By rank: the worker numbers of an elastic job; empty in other jobs.
  std::vector<int> workers() const;
  void regroup();
  void make_keeper();
  void resume();
  void tell_of_steps(std::int64_t planned);
  std::string advice();
  void meet_after_files(const char* label);
  std::int64_t restore(const checkpoint::Checkpoint& from);
  void advance(const Outcome& outcome);
  void count_time() { progress_.seconds += watch_.lap(); }
  void follow_precision(const Outcome& outcome);
  void on_not_finite(double loss);
  bool is_overflow(double loss) const;
  bool roll_back();
  bool evaluate();
  std::optional<Scores> scores_of_weights();
  void compare_with_best();
  void follow_plateau();
  void save();
  std::vector<checkpoint::Piece> pieces_to_save();
  void refuse_broken_weights(const std::vector<checkpoint::Piece>& saved);
  void compare_ranks();
  bool is_due(std::int64_t every) const;
  bool is_save_due() const;
  bool is_over() const;
  const std::atomic<bool>& is_stop_wanted() const;
  bool has_patience() const;
  // What this worker of an elastic job reports to the others; null in other jobs.
  Liveness* liveness() const;

  Job& job_;
  Options options_;
  Progress progress_;
  std::string data_json_;  // the preprocessing, encoded once for all checkpoints
  std::optional<Scores> scores_;
  std::optional<double> score_;  // by eval.metric, of the current weights
  std::int64_t evaluated_at_ = -1;
  std::int64_t saved_at_ = -1;
  bool is_score_saved_ = false;
  std::int64_t attended_at_ = 0;  // the last step whose evaluation and checkpoint are done
  bool is_open_ = false;          // the job has begun or was resumed
  bool is_stopping_ = false;
  bool is_repeated_ = false;           // the next step was begun before
  std::uint64_t kept_assignment_ = 0;  // of the earlier attempt; see Turn
  bool is_change_wanted_ = false;
  bool is_ending_ = false;             // this rank's part of the last checkpoint is written
  bool is_finished_ = false;           // the parts of all ranks are written
  std::optional<double> broken_loss_;  // of a step that was not finite and is not yet handled
  int not_finite_ = 0;                 // such steps in a row
  const std::atomic<bool> never_{false};
  std::unique_ptr<JobCheckpoints> keeper_;  // null without a folder
  std::optional<Recovery> recovery_;
  std::optional<optim::Plateau> plateau_;
  PrecisionSwitch precision_;
  Stopwatch watch_;                 // since progress_.seconds
  std::int64_t fell_back_at_ = -1;  // the last step after which training fell back to float32
  Balancer balancer_;
};

}  // namespace trireme::train
