// TemporaryFolder is a private folder (mode 0700) that is removed with its contents by the
// destructor.
//
// Killed owners: the owner holds a lock (flock) on the folder as long as it exists. A folder with
//                the same label and no lock was left by a killed owner; creating the next one
//                removes it. A process that was forked without exec shares its parent's lock.
// Thread safety: one thread at a time.
// Errors:        the constructor throws Io or Exhausted. Removal never throws; what could not be
//                removed is left for the next sweep.

#pragma once

#include <filesystem>
#include <string_view>

#include "trireme/base/file/descriptor.h"

namespace trireme {

class TemporaryFolder {
 public:
  // Creates trireme-<label>-<random> in `parent`, or if none is given in $TMPDIR or /tmp.
  explicit TemporaryFolder(std::string_view label, std::filesystem::path parent = {});
  ~TemporaryFolder();

  TemporaryFolder(TemporaryFolder&&) noexcept = default;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void remove() noexcept;

  std::filesystem::path path_;
  Descriptor lock_;
};

// Removes the folders with this label in `parent` whose owners are dead, and returns how many.
int sweep_temporary_folders(std::string_view label, const std::filesystem::path& parent);

}  // namespace trireme
