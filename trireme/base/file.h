// Whole files, read at once and replaced at once.
//
// Replacing: readers see the old content or the new, never a mixture, whatever is killed or
//            unplugged meanwhile. The content goes to a temporary name in the same folder, is
//            forced to disk and renamed; then the folder is forced to disk. A symbolic link is
//            replaced itself, not what it points to.
// Stale:     a writer holds a lock (flock) on its temporary file, which the kernel drops when the
//            writer dies in whatever way. A temporary file without a lock is therefore stale, and
//            sweep_temporary_files() removes it; call it where a folder is taken into use.
// Failure:   a full disk or quota is Exhausted, and the old file stays as it was; a missing file
//            is NotFound; else Io. A failed write leaves no temporary file behind.
// Threads:   any thread; of two writers of one name, the last to finish wins.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "trireme/base/bytes.h"
#include "trireme/base/fault.h"

namespace trireme {

inline constexpr std::size_t kReadFileSizeMax = std::size_t{1} << 30;

// The content of a regular file. Devices and pipes are refused (InvalidInput): reading them might
// never end. More than `size_max` bytes are Exhausted.
std::string read_file(const std::filesystem::path& path, std::size_t size_max = kReadFileSizeMax);

inline constexpr FaultPoint kFileWritten{"file.written"};  // under its temporary name
inline constexpr FaultPoint kFileRenamed{"file.renamed"};

struct WriteOptions {
  mode_t mode = 0644;  // less the umask; 0600 for secrets, which are so from their first byte
  Faults* faults = nullptr;
  int rank = 0;  // of whom the fault points speak
};

void write_file_atomically(const std::filesystem::path& path, ByteView content,
                           const WriteOptions& options = {});
void write_file_atomically(const std::filesystem::path& path, std::string_view content,
                           const WriteOptions& options = {});

// Removes the temporary files in `folder` that writers left when they were killed, and those
// only; says how many. A folder that does not exist has none.
int sweep_temporary_files(const std::filesystem::path& folder);

}  // namespace trireme
