// SavedJob saves a running job's state in its checkpoints and restores it, on all ranks together:
// tensors through the gradient synchronization, and the rest (JobState) as metadata.
//
// Resuming:      a job that is resumed from its last checkpoint ends with bitwise the same weights
//                as an uninterrupted job, because everything random is a function of the seed and
//                the position.
// Errors:        what JobCheckpoints throws, and InvalidInput for a checkpoint of another job,
// other
//                data or other settings.
// Thread safety: one thread. open(), restore() and save() are collectives.
// Lifetime:      the parts must outlive this object.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/train/job.h"
#include "trireme/train/job_checkpoints.h"
#include "trireme/train/recovery/job_state.h"
#include "trireme/train/report/reporter.h"
#include "trireme/train/report/step_times.h"

namespace trireme::train {

class SavedJob {
 public:
  struct Parts {
    Job* job;
    JobState* state;
    Stopwatch* watch;  // of the time that is not yet in the state; restarts when that is restored
    Reporter* reporter;
    std::filesystem::path folder;  // the job's; empty: nothing is saved
    std::vector<std::string> allowed_changes;
    Faults* faults;
    // Called before pieces are saved; throws if they must not be.
    std::function<void(const std::vector<checkpoint::Piece>&)> check;
  };
  explicit SavedJob(Parts parts) : parts_(std::move(parts)) {}

  // Begins the job, or continues it from its newest checkpoint, and removes what killed writers
  // left in its folder. If a worker dies during this, all ranks call it again.
  void open(bool is_resumed);
  // Uses the job's group, which has changed.
  void regroup();
  // Replaces the state of all ranks. Returns how many steps the job was to have when it was saved.
  std::int64_t restore(const checkpoint::Checkpoint& from);
  // Does nothing if this step and its score are saved already.
  void save();
  // Null without a folder, and before open().
  JobCheckpoints* checkpoints() const noexcept { return checkpoints_.get(); }
  // Ranks read and write files at different speeds: those that are done wait for the others here,
  // and not in the next collective, whose timeout is shorter.
  void meet_after_files(const char* label);

 private:
  void connect();
  void resume();
  void warn(const std::string& text, const Record& what) const;
  void tell_of_steps(std::int64_t planned);
  Progress progress_of(const checkpoint::Checkpoint& from) const;
  void read_tensors(const checkpoint::Checkpoint& from);
  std::vector<checkpoint::Piece> pieces_to_save();

  Parts parts_;
  std::string data_json_;  // the preprocessing, encoded once for all checkpoints
  std::unique_ptr<JobCheckpoints> checkpoints_;
};

}  // namespace trireme::train
