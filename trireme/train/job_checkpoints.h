// JobCheckpoints writes and reads a job's checkpoints. Every rank writes its part in the
// background, rank 0 reports the result on the screen and in events.jsonl, and all ranks read the
// same one back.
//
// Elastic jobs:  call regroup() after the ranks have changed. It does not wait for writes: a
//                checkpoint that the previous ranks began is finished if all parts exist, otherwise
//                it is given up and reported. A previous rank 0 that was frozen and wakes up later
//                cannot change anything.
// Full disk:     a checkpoint that could not be written is reported at once, and training continues
//                with a new attempt at the next checkpoint. If that fails too, or at the end of the
//                job, the error is thrown.
// Damage:        a damaged checkpoint is reported and set aside, never removed. If all checkpoints
//                are damaged, no file is touched, and reading throws InvalidInput on every rank.
// Thread safety: one thread per rank. The constructor, regroup(), save() and newest() are
//                collectives: every rank calls them.

#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/comm/group.h"
#include "trireme/train/report/reporter.h"

namespace trireme::train {

class JobCheckpoints {
 public:
  struct Options {
    std::filesystem::path folder;
    checkpoint::format::Retention retention{};
    std::string metric{};                     // of the scores; scores by another metric are ignored
    comm::Group group = comm::Group::solo();  // that of a later epoch takes the folder over
    std::vector<int> workers{};               // of an elastic job, by rank
    std::string job{};  // see checkpoint::Saver::Options; empty: the job is not elastic
    checkpoint::format::Sealing sealing{};
    Reporter* reporter = nullptr;
    Faults* faults = nullptr;
  };
  explicit JobCheckpoints(Options options);

  const std::filesystem::path& folder() const noexcept { return options_.folder; }

  // From now on the ranks of `group` save and read together.
  void regroup(comm::Group group, std::vector<int> workers = {});

  // Waits until all ranks have written the previous checkpoint, then copies this rank's pieces and
  // returns. A collective, called for the same steps on every rank.
  void save(const checkpoint::State& state, std::int64_t step, std::optional<double> score);

  // Reports the writes that have ended since the last call; cheap enough for every step.
  void look();
  // Waits until everything is on disk. Throws if the last save failed, and PeerLost if the part of
  // a failed rank is missing.
  void finish();

  // The newest intact checkpoint, which was read and verified completely; nullopt if the folder has
  // no checkpoint.
  std::optional<checkpoint::Checkpoint> newest();

  // The step of the newest checkpoint whose step is at most `last`, intact or not. A collective.
  std::optional<std::int64_t> newest_step(std::int64_t last);

  // Removes the checkpoints of steps after `step`, to which the job has returned.
  void remove_after(std::int64_t step);

 private:
  // For collectives in which ranks wait for files that others read or write; see comm::Timeouts.
  Deadline files_deadline() const;
  checkpoint::WriterGroup writers_of(std::uint64_t nonce) const;
  void join(checkpoint::WriterGroup writers);
  std::optional<checkpoint::Saver::Ended> settle();
  void give_up(std::int64_t step, const std::string& why);
  std::exception_ptr with_advice(const std::exception_ptr& failure) const;
  void heed(const std::optional<checkpoint::Saver::Ended>& ended, bool is_last = false);
  std::int64_t find_newest();

  Options options_;
  std::unique_ptr<checkpoint::Saver> saver_;
  std::exception_ptr failure_;  // of the last finished save, on rank 0
};

}  // namespace trireme::train
