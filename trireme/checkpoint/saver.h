// Saver writes checkpoints of one job into one folder, in the background.
//
// Stall:    save() copies the state into a buffer and returns; a thread writes it. A save() while
//           the one before is still being written waits for it, at most Options::wait.
// Whole:    a checkpoint is in the folder whole or not at all, whatever is killed at whatever
//           moment; what a killed writer left is swept when the next Saver opens the folder.
// Kept:     the last few and the best few; the others are removed after a new one is on disk. What
//           cannot be read is never removed: it is set aside where a new one takes its name.
// Failure:  a folder that another Saver has open is InvalidInput. What fails in the background is
//           told once: by poll() or settle(), else thrown by the next save() or wait(); Exhausted
//           for a full disk. The checkpoints before it stay as they were, and the next save()
//           tries anew.
// Threads:  one thread at a time.
// Lifetime: the destructor lets a write in progress finish; its failure is then lost: call
//           wait() first.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/fault.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/retention.h"
#include "trireme/checkpoint/snapshot.h"
#include "trireme/checkpoint/state.h"

namespace trireme::checkpoint {

inline constexpr FaultPoint kSnapshotTaken{"checkpoint.snapshot"};
inline constexpr FaultPoint kPartWritten{"checkpoint.part"};

class Saver {
 public:
  struct Options {
    std::filesystem::path folder;
    format::Retention retention{};
    // Whether the score beside this meta may be compared with those to come; empty: every one may.
    std::function<bool(const std::string& meta)> is_score_alike{};
    Duration wait = std::chrono::minutes(10);  // for the save before this one
    Faults* faults = nullptr;
    int rank = 0;  // of whom the fault points speak
  };

  // What became of a save.
  struct Ended {
    std::int64_t step = 0;
    std::exception_ptr failure{};  // null: it is on disk
  };

  // What saving has cost so far; seconds are of the caller unless said otherwise.
  struct Figures {
    std::int64_t saved = 0;       // checkpoints on disk by this Saver
    std::int64_t last_step = -1;  // of the newest on disk by this Saver
    double seconds_waited = 0;    // for the write before
    double seconds_copied = 0;    // the snapshots
    double seconds_written = 0;   // in the background
    std::uint64_t bytes = 0;      // written in all
  };

  explicit Saver(Options options);
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  void save(const State& state, std::int64_t step, std::optional<double> score = std::nullopt);

  // Until everything saved is on disk.
  void wait(Deadline deadline = Deadline::never());

  // The last save that has ended since somebody asked; at once, and after all have ended.
  std::optional<Ended> poll();
  std::optional<Ended> settle(Deadline deadline = Deadline::never());

  // Removes checkpoints of later steps: a job that goes back to `step` has no such future. Those
  // that cannot be read stay.
  void remove_after(std::int64_t step);

  // Takes a damaged checkpoint out of the count and renames it, for people to look at.
  void set_aside(std::int64_t step);

  Figures figures() const;

 private:
  struct Task {
    std::int64_t step = 0;
    std::optional<double> score;
    std::string meta;
  };

  void wait_idle(std::unique_lock<std::mutex>& lock, Deadline deadline);
  void rethrow_failure();
  bool is_held(std::int64_t step) const;
  void run();
  void write(const Task& task);
  void retire();

  Options options_;
  format::FolderLock lock_;
  std::vector<format::Scored> held_;
  Snapshot snapshot_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Task> task_;  // being written, or about to be
  std::optional<Ended> ended_;
  Figures figures_;
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace trireme::checkpoint
