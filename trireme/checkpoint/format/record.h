// A record says that one writer's part of a draft is whole and on disk, and what is in it: by its
// records the one who writes the manifest knows when all are there.
//
// A record is a manifest of one part, `part-00002.json`; it is written after the part was forced to
// disk, and appears at once or not at all. A writer that fails leaves `part-00002.failed` instead.
//
// Failure: read_record() throws RemoteFailure with the writer's words where it failed, and Corrupt
//          where the record is damaged, or of another checkpoint.
// Threads: pure but for the files; a writer touches its own only.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/fault.h"
#include "trireme/checkpoint/format/part.h"

namespace trireme::checkpoint::format {

// The file of the part itself; other programs read those that are plain.
std::string part_name(int rank, bool is_plain = true);

// `id`: of the checkpoint that they write together.
void write_record(const std::filesystem::path& draft, int rank, const WrittenPart& part,
                  const std::string& id, Faults* faults = nullptr);

// As well as it can: where the disk is full or the draft is gone, the reader's deadline speaks.
void write_failure(const std::filesystem::path& draft, int rank, const std::string& why) noexcept;

// Nothing while it is not there.
std::optional<WrittenPart> read_record(const std::filesystem::path& draft, int rank,
                                       const std::string& id);

// What a finished checkpoint does not need.
void remove_record(const std::filesystem::path& draft, int rank);

}  // namespace trireme::checkpoint::format
