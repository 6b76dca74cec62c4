// The folder that holds a job's checkpoints, `step-00001234` each: how one appears in it, whole or
// not at all, and how one goes.
//
// Writing:  a writer takes the FolderLock, fills a draft (a hidden folder that nobody reads),
// writes
//           the manifest into it last and publishes it, which is one rename. Removing is a rename
//           too, and the deletion comes after it. Killed at any moment, the folder therefore holds
//           whole checkpoints and perhaps a draft, which sweep_drafts() removes.
// Failure:  Exhausted on a full disk, else Io. A folder that another process writes to is refused
//           with InvalidInput, naming the process.
// Threads:  of one folder, one thread at a time, which holds the lock; reading needs none.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/descriptor.h"
#include "trireme/base/fault.h"
#include "trireme/checkpoint/format/manifest.h"

namespace trireme::checkpoint::format {

inline constexpr FaultPoint kManifestWritten{"checkpoint.manifest"};    // all there, still a draft
inline constexpr FaultPoint kPublished{"checkpoint.published"};         // under its name
inline constexpr FaultPoint kRemovalBegun{"checkpoint.removal_begun"};  // an old one, out of sight

std::string folder_name(std::int64_t step);
std::optional<std::int64_t> step_in(std::string_view folder_name);

struct Listed {
  std::int64_t step = 0;
  std::filesystem::path path;
};

// By step. A folder that does not exist has none.
std::vector<Listed> list_checkpoints(const std::filesystem::path& folder);

class FolderLock {
 public:
  // Makes the folder where it is missing. The lock goes with the object, or with the process.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  Descriptor descriptor_;
};

// An empty hidden folder beside the checkpoints.
std::filesystem::path make_draft(const std::filesystem::path& folder, std::int64_t step);

// Writes the manifest into the draft, forces all to disk and renames the draft to the name of its
// step. A checkpoint of the same step is replaced in one exchange.
void publish(const std::filesystem::path& draft, const Manifest& manifest, Faults* faults = nullptr,
             int rank = 0);

void remove_checkpoint(const std::filesystem::path& checkpoint, Faults* faults = nullptr,
                       int rank = 0);

// Renames a checkpoint to `step-….damaged`, where nothing lists, counts or replaces it. Returns the
// new path.
std::filesystem::path set_aside(const std::filesystem::path& checkpoint);

// Removes drafts and half-removed checkpoints; says how many. The caller holds the lock.
int sweep_drafts(const std::filesystem::path& folder);

}  // namespace trireme::checkpoint::format
