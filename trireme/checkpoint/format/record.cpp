#include "trireme/checkpoint/format/record.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/checkpoint/format/manifest_text.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

std::string name_of(int rank, const char* suffix) {
  TRIREME_CHECK(rank >= 0, "part ", rank);
  char text[32];
  std::snprintf(text, sizeof text, "part-%05d%s", rank, suffix);
  return text;
}

constexpr const char* kRecordSuffix = ".json";
constexpr const char* kFailureSuffix = ".failed";

// A writer that can create a file but cannot write the reason into it has no space.
std::string no_space_text(const fs::path& part) {
  return "writing " + part.string() + ": " + std::strerror(ENOSPC);
}

}  // namespace

std::string part_name(int rank, bool is_plain) {
  return name_of(rank, is_plain ? ".safetensors" : ".sealed");
}

void write_record(const fs::path& draft, int rank, const WrittenPart& part,
                  const RecordOptions& options) {
  Manifest record;
  record.id = options.id;
  record.files = {part.file};
  record.tensors = part.tensors;
  write_file_atomically(draft / name_of(rank, kRecordSuffix),
                        manifest_text(record, options.key, Coverage::Part),
                        {.faults = options.faults, .rank = rank});
}

void write_failure(const fs::path& draft, int rank, const std::string& why) noexcept {
  try {
    if (!fs::exists(draft)) return;
    for (const bool is_plain : {true, false}) fs::remove(draft / part_name(rank, is_plain));
    const fs::path path = draft / name_of(rank, kFailureSuffix);
    try {
      // The reader looks at the file as soon as it exists, so it must appear with its text.
      write_file_atomically(path, why);
    } catch (const Error&) {
      // The reader knows what it means that the text is missing.
      std::ofstream(path, std::ios::app).flush();
    }
  } catch (const std::exception&) {
    return;
  }
}

std::optional<WrittenPart> read_record(const fs::path& draft, int rank,
                                       const RecordOptions& options) {
  const fs::path path = draft / name_of(rank, kRecordSuffix);
  if (fs::exists(path)) {
    Manifest record =
        parse_manifest(read_file(path), path.string(), {.key = options.key}, Coverage::Part);
    if (record.id != options.id || record.files.size() != 1 ||
        record.files[0].name != part_name(rank, !record.files[0].is_sealed())) {
      throw Error(ErrorCode::Corrupt, path.string() + " is the record of another part");
    }
    return WrittenPart{.file = std::move(record.files[0]), .tensors = std::move(record.tensors)};
  }
  const fs::path failure = draft / name_of(rank, kFailureSuffix);
  if (!fs::exists(failure)) return std::nullopt;
  const std::string why = read_file(failure);
  const std::string writer =
      options.writer.empty() ? "rank " + std::to_string(rank) : options.writer;
  throw Error(ErrorCode::RemoteFailure,
              writer + " could not write its part: " +
                  (why.empty() ? no_space_text(draft / part_name(rank)) : why));
}

void remove_record(const fs::path& draft, int rank) {
  std::error_code error;
  fs::remove(draft / name_of(rank, kRecordSuffix), error);
  if (error) throw system_error("removing a record from " + draft.string(), error.value());
}

}  // namespace trireme::checkpoint::format
