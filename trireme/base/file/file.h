// Reads and atomically replaces whole files.
//
// Replacing:     readers see either the old or the new content, never a mixture, even after a crash
//                or power failure. The content is written to a temporary file in the same folder,
//                flushed to disk and renamed; then the folder is flushed to disk. If the path is a
//                symbolic link, the link itself is replaced, not its target.
// Stale files:   a writer holds a lock (flock) on its temporary file, which the kernel releases
//                when the writer dies for any reason. A temporary file without a lock is therefore
//                stale, and sweep_temporary_files() removes it; call it before a folder is used.
// Errors:        a full disk or quota is Exhausted, and the old file is unchanged; a missing file
//                is NotFound; anything else is Io. A failed write leaves no temporary file behind.
// Thread safety: any thread may call these functions; if two writers write the same path, the last
//                one to finish wins.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "trireme/base/bytes.h"
#include "trireme/base/fault.h"

namespace trireme {

inline constexpr std::size_t kReadFileSizeMax = std::size_t{1} << 30;

// Returns the content of a regular file. Devices and pipes are refused with InvalidInput, because
// reading them might never end. A file of more than `size_max` bytes is Exhausted.
std::string read_file(const std::filesystem::path& path, std::size_t size_max = kReadFileSizeMax);

inline constexpr FaultPoint kFileWritten{"file.written"};  // written under its temporary name
inline constexpr FaultPoint kFileRenamed{"file.renamed"};

struct WriteOptions {
  // Before the umask. Use 0600 for secrets: the file has this mode from its creation.
  mode_t mode = 0644;
  Faults* faults = nullptr;
  int rank = 0;  // the rank reported to the fault points
};

void write_file_atomically(const std::filesystem::path& path, ByteView content,
                           const WriteOptions& options = {});
void write_file_atomically(const std::filesystem::path& path, std::string_view content,
                           const WriteOptions& options = {});

// Removes only those temporary files in `folder` whose writers were killed, and returns how many.
// Returns 0 if the folder does not exist.
int sweep_temporary_files(const std::filesystem::path& folder);

}  // namespace trireme
