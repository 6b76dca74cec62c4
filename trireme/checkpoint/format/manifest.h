// Manifest says what a checkpoint is: the logical tensors of a model, and for each the pieces that
// make it up. It describes the model and not the job that wrote it, so any layout reads what any
// other wrote.
//
// A piece is a flat, row-major range of its tensor, lying in one file. Its bytes have a checksum
// every kChunkSize bytes, so that a reader of a range proves what it reads and nothing more, and
// damage is named by its place.
//
// Form:    manifest.json, the last file written; it ends in a checksum of everything before.
// Failure: parse_manifest() throws Corrupt for damage and for a tensor whose pieces leave a gap or
//          overlap; Unsupported for a version that this build does not know.
// Threads: values; the functions are pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/checkpoint/format/dtype.h"

namespace trireme::checkpoint::format {

inline constexpr int kManifestVersion = 2;  // 1 where no part is sealed: older builds read it
inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::uint64_t kChunkSize = std::uint64_t{4} << 20;

struct StoredPiece {
  std::string file;
  std::int64_t begin = 0;  // first element
  std::int64_t count = 0;
  std::uint64_t offset = 0;                // of its first byte in the file
  std::vector<std::uint64_t> checksums{};  // XXH64 of the bytes in the file, one a chunk
  std::vector<std::uint64_t> stored{};     // bytes in the file, one a chunk; empty: as they are
};

struct StoredTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::int64_t> sizes{};
  std::vector<StoredPiece> pieces{};  // by `begin`

  std::int64_t count() const;
  std::uint64_t size() const { return static_cast<std::uint64_t>(count()) * size_of(dtype); }
};

struct StoredFile {
  std::string name;
  std::uint64_t size = 0;
  bool is_compressed = false;  // with zstd, chunk by chunk
  std::string key_id{};        // of an encrypted one, see seal.h
  std::string salt{};

  bool is_sealed() const { return is_compressed || !key_id.empty(); }
};

struct Manifest {
  std::int64_t step = 0;
  std::optional<double> score{};
  std::string meta = "{}";              // JSON, the caller's
  std::string id{};                     // of the attempt that wrote it, no other's
  std::vector<StoredFile> files{};      // by name
  std::vector<StoredTensor> tensors{};  // by name

  // Null when there is none of that name.
  const StoredTensor* find(std::string_view name) const;
  std::uint64_t data_size() const;
};

// Sorts, then throws Misuse unless the pieces of every tensor cover it once.
void settle(Manifest& manifest);

std::string manifest_text(const Manifest& manifest);
Manifest parse_manifest(std::string_view text, const std::string& file);
// Of a text that speaks of some pieces of its tensors only.
Manifest parse_part_of_manifest(std::string_view text, const std::string& file);

}  // namespace trireme::checkpoint::format
