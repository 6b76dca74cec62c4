// Saver writes this rank's part of a job's checkpoints into one folder, in the background.
//
// Stall:         save() copies the state into a buffer and returns; a thread writes the buffer. If
//                the previous write is still in progress, save() waits for it, at most
//                Options::wait.
// Ranks:         all ranks of the group (WriterGroup) save the same steps in the same order, each
// with its
//                own pieces of the state; rank 0 provides the meta. Rank 0's thread waits for the
//                parts of all other ranks, at most Options::wait, and then publishes. The ranks
//                communicate only through the folder.
// Atomicity:     a checkpoint is in the folder completely or not at all, whichever process is
//                killed at whatever time. The next rank 0 sweeps the drafts of a killed writer.
// Regroup:       after a change of the group, a save of the old group is given up if a part is
//                still missing when the next save() begins or a caller waits. Parts of the old and
//                the new group never mix. A caller that waits before regroup() may report a lost
//                rank through IsAnyoneLost, with the same effect.
// Retention:     see trireme/checkpoint/format/shelf.h.
// Epochs:        rank 0 of a later epoch takes the folder from rank 0 of an earlier epoch, which
//                may be frozen. The earlier rank's save is given up, and it can no longer change
//                the folder.
// Errors:        InvalidInput if another job writes to the folder. A failure in the background is
//                reported once: by poll() or settle(), otherwise thrown by the next save() or
//                wait(). Exhausted if the disk is full, RemoteFailure if another rank failed.
//                Earlier checkpoints do not change, and the next save() tries again.
// Thread safety: one thread at a time.
// Lifetime:      the destructor completes a write in progress and waits two seconds for the parts
//                of other ranks. A failure at this point is lost; call wait() first.

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
#include "trireme/checkpoint/format/shelf.h"
#include "trireme/checkpoint/snapshot.h"
#include "trireme/checkpoint/state.h"
#include "trireme/checkpoint/writer_group.h"
#include "trireme/comm/timeouts.h"

namespace trireme::checkpoint {

inline constexpr FaultPoint kSnapshotTaken{"checkpoint.snapshot"};
inline constexpr FaultPoint kPartWritten{"checkpoint.part"};
inline constexpr FaultPoint kPartsMet{"checkpoint.parts"};  // all parts, on rank 0

class Saver {
 public:
  struct Options {
    std::filesystem::path folder;
    // The same in all processes that write to this folder, together or in turn. Letters, digits and
    // '-'. Empty: only this Saver may write.
    std::string job{};
    format::Retention retention{};
    // Whether the score saved with this meta is comparable with future scores. Empty: all scores
    // are comparable.
    std::function<bool(const std::string& meta)> is_score_alike{};
    WriterGroup writers{};
    format::Sealing sealing{};                // default: plain
    Duration wait = comm::Timeouts{}.part();  // for the previous save, and for parts
    Faults* faults = nullptr;
  };

  // The result of a save: of the whole checkpoint on rank 0, of this rank's part on other ranks.
  struct Ended {
    std::int64_t step = 0;
    std::exception_ptr failure{};  // null: it is on disk
    // The group changed or lost a rank before all parts were complete, or a later epoch holds the
    // folder.
    bool is_given_up = false;
  };

  // The cost of all saves so far. Seconds are the caller's unless stated otherwise.
  struct Figures {
    std::int64_t saved = 0;       // checkpoints or parts that this Saver wrote to disk
    std::int64_t last_step = -1;  // newest step that this Saver wrote to disk
    double seconds_waited = 0;    // for the previous write
    double seconds_copied = 0;    // for the snapshots
    double seconds_written = 0;   // in the background
    std::uint64_t bytes = 0;      // written in total
  };

  explicit Saver(Options options);
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  void save(const State& state, std::int64_t step, std::optional<double> score = std::nullopt);

  // Blocks until every save is on disk.
  void wait(Deadline deadline = Deadline::never());

  // Called every few milliseconds while a caller waits. Returns whether parts may never arrive
  // because a rank is lost.
  using IsAnyoneLost = std::function<bool()>;

  // poll() returns the last save that has ended since the previous call of either, without waiting;
  // settle() first waits until all saves have ended.
  std::optional<Ended> poll();
  std::optional<Ended> settle(Deadline deadline = Deadline::never(),
                              const IsAnyoneLost& is_anyone_lost = {});

  // The steps of unfinished drafts of other groups that were swept since the previous call.
  std::vector<std::int64_t> swept();

  // Sets the group, starting with the next save(). Does not block: a write in progress continues.
  void regroup(WriterGroup writers);

  // For rank 0 only; see Shelf.
  void remove_after(std::int64_t step);
  void set_aside(std::int64_t step);

  Figures figures() const;

 private:
  struct Task {
    std::int64_t step = 0;
    std::optional<double> score;
    std::string meta;
    WriterGroup writers;
    std::int64_t ordinal = 0;  // index among the group's saves

    std::string tag() const { return writers.tag + "-" + std::to_string(ordinal); }
  };

  void wait_idle(std::unique_lock<std::mutex>& lock, Deadline deadline,
                 const IsAnyoneLost& is_anyone_lost = {});
  void rethrow_failure();
  void run();
  Ended attempt(const Task& task);
  void write(const Task& task);
  void lead(const Task& task);
  format::WrittenPart write_part(const std::filesystem::path& draft, const Task& task);
  void publish(const std::filesystem::path& draft, const Task& task, format::WrittenPart own);
  format::WrittenPart meet(const std::filesystem::path& draft, const Task& task, int rank,
                           Deadline deadline);
  bool is_pointless(const Task& task) const;
  format::Shelf& shelf(const WriterGroup& writers);
  void sweep(const WriterGroup& writers, std::int64_t ordinal);

  Options options_;
  std::optional<format::Shelf> shelf_;  // on rank 0 only
  Snapshot snapshot_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  WriterGroup writers_;
  std::int64_t ordinal_ = 0;
  std::optional<Task> task_;  // being written or about to be
  std::optional<Ended> ended_;
  std::vector<std::int64_t> swept_;
  Figures figures_;
  bool is_wanted_done_ = false;  // a caller waits for the task
  bool is_anyone_lost_ = false;  // that caller reported a lost rank
  std::optional<Deadline> closing_{};
  std::thread thread_;
};

}  // namespace trireme::checkpoint
