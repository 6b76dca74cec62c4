// The folder that holds a job's checkpoints, `step-00001234` each: how one appears in it, whole or
// not at all, and how one goes.
//
// Writing:  writers fill a draft (a hidden folder that nobody reads); the one who holds the
//           FolderLock writes the manifest into it last and publishes it, which is one rename.
//           Removing is a rename too, and the deletion comes after it. Killed at any moment, the
//           folder therefore holds whole checkpoints and perhaps drafts, which sweep_drafts()
//           removes.
// Drafts:   writers that work together meet in the draft of one step and tag. A tag is theirs
//           alone, so that two attempts at one step never mix.
// Failure:  Exhausted on a full disk, else Io. A folder that another process writes to is refused
//           with InvalidInput, naming the process.
// Threads:  of one folder, one thread at a time, which holds the lock; drafts are for any number
//           of writers, and reading needs nothing.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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

// The draft of a step and a tag, made unless it is there. A tag is letters, digits and '-'.
std::filesystem::path make_draft(const std::filesystem::path& folder, std::int64_t step,
                                 const std::string& tag);

// Writes the manifest into the draft, forces all to disk and renames the draft to the name of its
// step. A checkpoint of the same step is replaced in one exchange.
void publish(const std::filesystem::path& draft, const Manifest& manifest, Faults* faults = nullptr,
             int rank = 0);

void remove_checkpoint(const std::filesystem::path& checkpoint, Faults* faults = nullptr,
                       int rank = 0);

// Renames a checkpoint to `step-….damaged`, where nothing lists, counts or replaces it. Returns the
// new path.
std::filesystem::path set_aside(const std::filesystem::path& checkpoint);

struct Draft {
  std::int64_t step = 0;
  std::string tag;
};

// Removes half-removed checkpoints, and drafts but for those that are spared; says which drafts.
// One that somebody still writes into may stay, for the next sweep. The caller holds the lock.
std::vector<Draft> sweep_drafts(const std::filesystem::path& folder,
                                const std::function<bool(const Draft&)>& is_spared = {});

}  // namespace trireme::checkpoint::format
