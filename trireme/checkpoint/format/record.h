// A record states that one writer's part of a draft is complete and on disk, and lists its
// contents. The rank that writes the manifest reads the records to find out when all parts are
// complete.
//
// A record is a manifest of one part, `part-00002.json`. It is written after the part was flushed
// to disk, and appears atomically. A writer that fails creates `part-00002.failed` instead, with
// the reason in it.
//
// Errors:        read_record() throws RemoteFailure with the writer's message if the writer failed,
//                and Corrupt if the record is damaged or belongs to another checkpoint.
// Thread safety: no shared state except the files; each writer changes only its own.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/fault.h"
#include "trireme/checkpoint/format/part.h"

namespace trireme::checkpoint::format {

// The name of the part's own file; other programs can read plain parts.
std::string part_name(int rank, bool is_plain = true);

struct RecordOptions {
  std::string id{};                  // of the checkpoint that the ranks write together
  std::optional<net::Secret> key{};  // signs the record, as it signs the manifest
  Faults* faults = nullptr;
  std::string writer{};  // as messages call it; empty: by its rank
};

void write_record(const std::filesystem::path& draft, int rank, const WrittenPart& part,
                  const RecordOptions& options);

// Removes the writer's unfinished part, whose space a full disk needs for the reason; a reason for
// which there is still no space is left out. Best effort: if the draft is gone, or not even an
// empty file can be created, the reader's deadline reports the failure.
void write_failure(const std::filesystem::path& draft, int rank, const std::string& why) noexcept;

// Returns nullopt if the record does not exist yet.
std::optional<WrittenPart> read_record(const std::filesystem::path& draft, int rank,
                                       const RecordOptions& options);

// Removes the record, which a finished checkpoint does not need.
void remove_record(const std::filesystem::path& draft, int rank);

}  // namespace trireme::checkpoint::format
