// Trainer runs a job from where it is to its end: steps, evaluations, checkpoints, and what people
// see of them.
//
// Resumed equals uninterrupted: whatever is killed, a job that goes on from its last checkpoint
// ends with the same bits, since everything random is a function of the seed and the position.
//
// Stopping: when `is_stop_wanted` turns true the step that runs is finished, a checkpoint written,
//           and run() returns Ending::Stopped.
// Failure:  Diverged where a result was not finite and the recipe says to stop; else what its
//           parts throw. The last checkpoint is whole in every case.
// Threads:  one; `is_stop_wanted` may be set from any, or by a signal.

#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/train/job.h"
#include "trireme/train/progress.h"
#include "trireme/train/reporter.h"

namespace trireme::train {

enum class Ending { Done, Stopped, NoBetter };

class Trainer {
 public:
  struct Options {
    std::filesystem::path output;  // the job's folder
    bool is_resumed = false;       // goes on from the newest whole checkpoint there, if any
    const std::atomic<bool>* is_stop_wanted = nullptr;
    Reporter* reporter = nullptr;
    Faults* faults = nullptr;
  };

  Trainer(Job& job, Options options);

  Ending run();
  const Progress& progress() const noexcept { return progress_; }
  // Of the last evaluation.
  const std::optional<Scores>& scores() const noexcept { return scores_; }

 private:
  std::filesystem::path checkpoints() const { return options_.output / "checkpoints"; }
  void make_saver();
  std::optional<checkpoint::Checkpoint> newest();
  void resume();
  void restore(const checkpoint::Checkpoint& from);
  void advance(const Outcome& outcome);
  void on_not_finite(const Outcome& outcome);
  void evaluate();
  void save(bool is_waited);
  void refuse_broken_weights();
  void compare_ranks();
  bool is_due(std::int64_t every) const;
  bool has_patience() const;

  Job& job_;
  Options options_;
  Progress progress_;
  std::optional<Scores> scores_;
  std::optional<double> score_;  // by eval.metric, of the weights as they are
  std::int64_t evaluated_at_ = -1;
  std::int64_t saved_at_ = -1;
  int not_finite_ = 0;                        // in a row
  std::unique_ptr<checkpoint::Saver> saver_;  // rank 0's
};

}  // namespace trireme::train
