// FolderLock is the right to change a folder of checkpoints. It belongs to one job and, within a
// job, to one membership epoch: a later epoch takes it from an earlier one immediately, whether the
// earlier holder is dead, slow or frozen.
//
// Jobs:          a shared flock(2) on `.lock`, a file that contains the job's name. If another job
//                holds the folder, the constructor throws InvalidInput and names the holding
//                process. An earlier epoch of the same job that is frozen with the exclusive lock
//                is no obstacle: see lock().
// Epochs:        each holder has a stage, the hidden folder `.writer.<job>.<epoch>`. A checkpoint
//                appears by a rename out of the stage and disappears by a rename into it. A holder
//                first creates its own stage, then removes the stages of earlier epochs; it fails
//                if it finds a stage of a later epoch. A process that was frozen in between
//                therefore fails at its next rename and cannot change anything that the later epoch
//                wrote. This also holds on network file systems, because a removed folder is not
//                found again through a stale cache entry.
// Errors:        Aborted if a later epoch holds the folder. Exhausted if the disk is full,
//                otherwise Io.
// Thread safety: one thread at a time.
// Lifetime:      the flock is released with the object or the process. The stage remains, so that
//                an earlier epoch cannot regain the folder.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::checkpoint::format {

// The names of all entries of a folder; empty if the folder does not exist.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Reached after the holder's name is written and before the lock becomes shared.
inline constexpr FaultPoint kLockNamed{"checkpoint.lock_named"};

class FolderLock {
 public:
  struct Writer {
    std::string job{};       // letters, digits and '-'; empty: a unique random name
    std::int64_t epoch = 0;  // membership epoch of the job
  };

  // Creates the folder if it does not exist.
  explicit FolderLock(const std::filesystem::path& folder) : FolderLock(folder, Writer()) {}
  FolderLock(const std::filesystem::path& folder, Writer writer, Faults* faults = nullptr);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  std::int64_t epoch() const noexcept { return writer_.epoch; }

  // Throws Aborted if a later epoch holds the folder.
  void expect_held() const;

  // A path inside the stage.
  std::filesystem::path staged(const std::string& name) const { return stage_ / name; }
  // Renames `from` to `to`; one of the two is inside the stage. Returns false if `from` does not
  // exist. Throws InvalidInput if another job has the folder now.
  bool move(const std::filesystem::path& from, const std::filesystem::path& to) const;
  // Deletes removed checkpoints from the stage and moves all other entries back to the folder.
  void clear() const;

 private:
  void lock(Faults* faults) const;
  void hold() const;
  bool try_lock(int operation) const;
  void write_holder() const;
  std::string read_holder() const;
  [[noreturn]] void refuse(const std::string& holder) const;
  void take_over() const;
  bool remove_stage(const std::filesystem::path& stage) const;
  void clear_stage(const std::filesystem::path& stage) const;

  std::filesystem::path folder_;
  Writer writer_;
  std::filesystem::path stage_;
  Descriptor descriptor_;
};

}  // namespace trireme::checkpoint::format
