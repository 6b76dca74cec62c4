// Keeper keeps a job's checkpoints: rank 0 writes them in the background and says what became of
// each, on the screen and in events.jsonl; all ranks read the same one back.
//
// Full disk: a checkpoint that could not be written is said at once, and training goes on: the next
//            one tries anew. Where that fails too, and at the end, the failure is thrown.
// Damage:    a checkpoint that is found damaged is named and set aside, never removed. Where none
//            is whole nothing is touched, and reading throws Corrupt on every rank.
// Threads:   one a rank. newest() is a collective: every rank calls it.

#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "trireme/base/fault.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/comm/group.h"
#include "trireme/train/reporter.h"

namespace trireme::train {

class Keeper {
 public:
  struct Options {
    std::filesystem::path folder;
    checkpoint::format::Retention retention{};
    std::string metric{};  // by which scores are; those of another one do not count
    comm::Group group = comm::Group::solo();
    Reporter* reporter = nullptr;
    Faults* faults = nullptr;
  };
  explicit Keeper(Options options);

  const std::filesystem::path& folder() const noexcept { return options_.folder; }

  // Copies the state and returns; waits for the one before. Of ranks other than 0: nothing.
  void save(const checkpoint::State& state, std::int64_t step, std::optional<double> score);

  // Says what has ended since the last look; cheap enough for every step.
  void look();
  // Until all is on disk; throws where the last save failed.
  void finish();

  // The newest that is whole, all of it read and checked; nothing where there is none at all.
  std::optional<checkpoint::Checkpoint> newest();

  // A job that goes back to `step` has no later ones.
  void remove_after(std::int64_t step);

 private:
  void heed(const std::optional<checkpoint::Saver::Ended>& ended);
  std::int64_t find_newest();

  Options options_;
  std::unique_ptr<checkpoint::Saver> saver_;  // rank 0's
  std::exception_ptr failure_;                // of the last save that ended
};

}  // namespace trireme::train
