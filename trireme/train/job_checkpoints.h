// JobCheckpoints keeps a job's checkpoints: every rank writes its part in the background, rank 0
// says what became of each, on the screen and in events.jsonl; all ranks read the same one back.
//
// Changes:   regroup() after a change of the ranks, whoever is rank 0 now. It waits for no write:
//            what the ranks before had begun is finished where all parts came, else given up and
//            said. A rank 0 that was frozen and wakes up later can change nothing.
// Full disk: a checkpoint that could not be written is said at once, and training goes on: the next
//            one tries anew. Where that fails too, and at the end, the failure is thrown.
// Damage:    a checkpoint that is found damaged is named and set aside, never removed. Where none
//            is whole nothing is touched, and reading throws InvalidInput on every rank.
// Threads:   one a rank. Making one, regroup(), save() and newest() are collectives: every rank
// calls them.

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
    std::string metric{};  // by which scores are; those of another one do not count
    comm::Group group = comm::Group::solo();
    std::int64_t epoch = 0;      // of the group; a later one takes the folder from an earlier one
    std::vector<int> workers{};  // of an elastic job, by rank
    std::string job{};           // see checkpoint::Saver::Options; empty: its ranks do not change
    checkpoint::format::Sealing sealing{};
    Reporter* reporter = nullptr;
    Faults* faults = nullptr;
  };
  explicit JobCheckpoints(Options options);

  const std::filesystem::path& folder() const noexcept { return options_.folder; }

  // Other ranks than before save together from here on, and read together.
  void regroup(comm::Group group, std::int64_t epoch, std::vector<int> workers = {});

  // Copies this rank's pieces and returns, after the previous checkpoint is written on all ranks. A
  // collective, of the same steps on every rank.
  void save(const checkpoint::State& state, std::int64_t step, std::optional<double> score);

  // Says what has ended since the last look; cheap enough for every step.
  void look();
  // Until all is on disk; throws where the last save failed, and PeerLost where it misses the part
  // of a rank that was lost.
  void finish();

  // The newest that is whole, all of it read and checked; nothing where there is none at all.
  std::optional<checkpoint::Checkpoint> newest();

  // The step of the newest one whose step is at most `last`, whether it is whole or not. A
  // collective.
  std::optional<std::int64_t> newest_step(std::int64_t last);

  // A job that goes back to `step` has no later ones.
  void remove_after(std::int64_t step);

 private:
  // Of collectives in which ranks wait for files that others read or write; see comm::Timeouts.
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
  std::exception_ptr failure_;  // of the last save that ended, on rank 0
};

}  // namespace trireme::train
