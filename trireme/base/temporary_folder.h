// TemporaryFolder is a folder of one's own (0700) that goes with the object, contents and all.
//
// Killed:   the owner holds a lock (flock) on the folder for life. A folder of the same label
//           without a lock was left by a killed owner; making the next one removes it.
//           A process that was forked and did not exec shares its parent's lock.
// Threads:  one thread at a time.
// Failure:  making one throws Io or Exhausted; removing never throws, and leaves to the next
//           sweep what it could not remove.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trireme/base/descriptor.h"

namespace trireme {

class TemporaryFolder {
 public:
  // In `parent`, or where none is given in $TMPDIR or else /tmp, named trireme-<label>-<random>.
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

// Removes the folders of this label in `parent` whose owners are dead; says how many.
int sweep_temporary_folders(std::string_view label, const std::filesystem::path& parent);

}  // namespace trireme
