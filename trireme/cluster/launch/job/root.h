// Where the folders of this user's jobs are: $XDG_RUNTIME_DIR/trireme, or /tmp/trireme-<uid> if the
// variable is not set.
//
// Safety:        a root must belong to this user alone: a real folder (no link), owned by the user,
//                mode 0700. Anything else is refused, since a user who can write there could read
//                the job's secret.
// Thread safety: any thread.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/base/file/descriptor.h"

namespace trireme::cluster::launch::job {

// Users type job names, and tables show them.
inline constexpr std::size_t kNameSizeMax = 40;

// Where new jobs are created; created if it does not exist. Throws InvalidInput if it is unsafe, or
// Io.
std::filesystem::path own_root();

// Every root that may hold jobs of this user, own_root() first; roots that do not exist or are not
// safe are left out. Two shells may have different values of XDG_RUNTIME_DIR.
std::vector<std::filesystem::path> known_roots();

// Creates `root` if necessary and throws InvalidInput unless it is safe.
void make_safe(const std::filesystem::path& root);

// Excludes all other processes that create or sweep jobs there, while the descriptor lives. Throws
// Deadline if another process holds it for 5 s.
Descriptor lock_root(const std::filesystem::path& root);

}  // namespace trireme::cluster::launch::job
