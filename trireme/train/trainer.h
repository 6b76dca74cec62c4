// Trainer runs a job from where it is to its end: steps, evaluations, checkpoints, and what people
// see of them.
//
// Resumed equals uninterrupted: whatever is killed, a job that goes on from its last checkpoint
// ends with the same bits, since everything random is a function of the seed and the position.
//
// With a crew, workers may die, leave and come on the way: see Recovery. A worker that is no longer
// wanted ends with Ending::Dismissed.
//
// Stopping: when `is_stop_wanted` turns true the step that runs is finished, an evaluation given up
//           between two batches, a checkpoint written, and run() returns Ending::Stopped.
// Failure:  Diverged where a result was not finite and the recipe says to stop; else what its
//           parts throw. The last checkpoint is whole in every case.
// Threads:  one; `is_stop_wanted` may be set from any, or by a signal.

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
    // Goes on from the newest whole checkpoint there. Begins where there is none at all, and says
    // so; Corrupt where there are some and none is whole.
    bool is_resumed = false;
    // Settings that decide a result and may differ from those of the checkpoint all the same.
    std::vector<std::string> allowed_changes{};
    // Keeps the recipe in the job's folder. Called on rank 0 when the job has begun or resumed and
    // has steps to make: a finished job keeps the recipe that it was trained with.
    std::function<void()> keep_recipe{};
    const std::atomic<bool>* is_stop_wanted = nullptr;
    Reporter* reporter = nullptr;
    Faults* faults = nullptr;
    ElasticWorld* world = nullptr;  // that has been joined; null: the ranks stay
    std::function<void(std::int64_t step)> before_step{};
    // A step counts from now on, here: it ended as steps do, or in a recovery.
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
  // The numbers of an elastic job's workers, by rank; empty elsewhere.
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
  // What this worker reports to the others of an elastic job; null elsewhere.
  Liveness* liveness() const;

  Job& job_;
  Options options_;
  Progress progress_;
  std::string data_json_;  // the preprocessing as every checkpoint has it, made once
  std::optional<Scores> scores_;
  std::optional<double> score_;  // by eval.metric, of the weights as they are
  std::int64_t evaluated_at_ = -1;
  std::int64_t saved_at_ = -1;
  bool is_score_saved_ = false;
  std::int64_t attended_at_ = 0;  // what follows this step is done
  bool is_open_ = false;          // begun, or resumed
  bool is_stopping_ = false;
  bool is_repeated_ = false;           // the next step was begun before
  std::uint64_t kept_assignment_ = 0;  // what it had; see Turn
  bool is_change_wanted_ = false;
  bool is_ending_ = false;             // its part of the last checkpoint is written
  bool is_finished_ = false;           // everybody's is
  std::optional<double> broken_loss_;  // of a step that was not finite and is to be dealt with
  int not_finite_ = 0;                 // in a row
  const std::atomic<bool> never_{false};
  std::unique_ptr<JobCheckpoints> keeper_;  // null without a folder
  std::optional<Recovery> recovery_;
  std::optional<optim::Plateau> plateau_;
  PrecisionSwitch precision_;
  Stopwatch watch_;                 // since progress_.seconds
  std::int64_t fell_back_at_ = -1;  // the step that made float32 of it, when it was done
  Balancer balancer_;
};

}  // namespace trireme::train
