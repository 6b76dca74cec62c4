// Saver writes this rank's part of the checkpoints of one job into one folder, in the background.
//
// Stall:    save() copies the state into a buffer and returns; a thread writes it. A save() while
//           the one before is still being written waits for it, at most Options::wait.
// Together: each rank of the crew saves the same steps in the same order, its own pieces of the
//           state; rank 0 brings the meta. Rank 0's thread waits for the parts of all others, at
//           most Options::wait, and then publishes. Nothing but the folder is between them.
// Whole:    a checkpoint is in the folder whole or not at all, whatever is killed at whatever
//           moment; what a killed writer left is swept by the next one who leads.
// Regroup:  after a change of the crew, what an old crew has begun is given up where a part is
//           missing when the next save() begins or somebody waits; it is never mixed with the new.
//           Who waits before the change has come may say that somebody is lost: the same then.
// Kept:     see trireme/checkpoint/format/shelf.h.
// Failure:  a folder that another Saver leads is InvalidInput. What fails in the background is
//           told once: by poll() or settle(), else thrown by the next save() or wait(); Exhausted
//           for a full disk, RemoteFailure for another rank's. The checkpoints before it stay as
//           they were, and the next save() tries anew.
// Threads:  one thread at a time.
// Lifetime: the destructor lets a write in progress finish, and waits two seconds for parts of
//           others; its failure is then lost: call wait() first.

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
#include "trireme/checkpoint/crew.h"
#include "trireme/checkpoint/format/shelf.h"
#include "trireme/checkpoint/snapshot.h"
#include "trireme/checkpoint/state.h"

namespace trireme::checkpoint {

inline constexpr FaultPoint kSnapshotTaken{"checkpoint.snapshot"};
inline constexpr FaultPoint kPartWritten{"checkpoint.part"};
inline constexpr FaultPoint kPartsMet{"checkpoint.parts"};  // all of them, on rank 0

class Saver {
 public:
  struct Options {
    std::filesystem::path folder;
    format::Retention retention{};
    // Whether the score beside this meta may be compared with those to come; empty: every one may.
    std::function<bool(const std::string& meta)> is_score_alike{};
    Crew crew{};
    format::Sealing sealing{};                 // plain unless said otherwise
    Duration wait = std::chrono::minutes(10);  // for the save before this one, and for parts
    Faults* faults = nullptr;
  };

  // What became of a save: of all of it on rank 0, of this rank's part elsewhere.
  struct Ended {
    std::int64_t step = 0;
    std::exception_ptr failure{};  // null: it is on disk
    bool is_given_up = false;      // the crew changed or lost somebody before all parts were there
  };

  // What saving has cost so far; seconds are of the caller unless said otherwise.
  struct Figures {
    std::int64_t saved = 0;       // on disk by this Saver
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

  // Asked every few milliseconds while somebody waits: whether parts may be missing for ever.
  using IsAnyoneLost = std::function<bool()>;

  // The last save that has ended since somebody asked; at once, and after all have ended.
  std::optional<Ended> poll();
  std::optional<Ended> settle(Deadline deadline = Deadline::never(),
                              const IsAnyoneLost& is_anyone_lost = {});

  // The steps of unfinished drafts of other crews that were swept since somebody asked.
  std::vector<std::int64_t> swept();

  // From the next save() on this is the crew. Returns at once: what is being written goes on.
  void regroup(Crew crew);

  // For rank 0; see Shelf.
  void remove_after(std::int64_t step);
  void set_aside(std::int64_t step);

  Figures figures() const;

 private:
  struct Task {
    std::int64_t step = 0;
    std::optional<double> score;
    std::string meta;
    Crew crew;
    std::int64_t ordinal = 0;  // of the crew's saves

    std::string tag() const { return crew.tag + "-" + std::to_string(ordinal); }
  };

  void wait_idle(std::unique_lock<std::mutex>& lock, Deadline deadline,
                 const IsAnyoneLost& is_anyone_lost = {});
  void rethrow_failure();
  void run();
  Ended attempt(const Task& task);
  void write(const Task& task);
  format::WrittenPart write_part(const std::filesystem::path& draft, const Task& task);
  void publish(const std::filesystem::path& draft, const Task& task, format::WrittenPart own);
  format::WrittenPart meet(const std::filesystem::path& draft, const Task& task, int rank,
                           Deadline deadline);
  bool is_pointless(const Task& task) const;
  format::Shelf& shelf(Deadline deadline);
  void sweep(const Crew& crew, std::int64_t ordinal);

  Options options_;
  std::optional<format::Shelf> shelf_;  // of the one who leads
  Snapshot snapshot_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Crew crew_;
  std::int64_t ordinal_ = 0;
  std::optional<Task> task_;  // being written, or about to be
  std::optional<Ended> ended_;
  std::vector<std::int64_t> swept_;
  Figures figures_;
  bool is_wanted_done_ = false;  // somebody waits for the task
  bool is_anyone_lost_ = false;  // and says so
  std::optional<Deadline> closing_{};
  std::thread thread_;
};

}  // namespace trireme::checkpoint
