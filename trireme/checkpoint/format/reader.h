// Reader gives the bytes of a checkpoint's tensors: any flat range of any tensor, whoever wrote it
// in whatever pieces. What it gives was checked: a chunk whose checksum does not match is never
// handed out.
//
// Failure: NotFound without a manifest (an unfinished checkpoint has none) or without the tensor;
//          Corrupt names the file, the tensor and the byte.
// Threads: any number of threads may read at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "trireme/base/descriptor.h"
#include "trireme/checkpoint/format/manifest.h"

namespace trireme::checkpoint::format {

class Reader {
 public:
  // Opens the folder `step-…`: its manifest, and every file in its stated size.
  explicit Reader(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const Manifest& manifest() const noexcept { return manifest_; }
  const StoredTensor& tensor(std::string_view name) const;

  // Elements [begin, begin + count) in row-major order into `out`.
  void read(const StoredTensor& tensor, std::int64_t begin, std::int64_t count,
            std::byte* out) const;

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;  // bytes of a piece
  };

  void read_piece(const StoredTensor& tensor, const StoredPiece& piece, Range wanted,
                  std::byte* out) const;
  void read_chunk(const StoredTensor& tensor, const StoredPiece& piece, Range chunk,
                  std::byte* out) const;

  std::filesystem::path folder_;
  Manifest manifest_;
  std::map<std::string, Descriptor> files_;
};

}  // namespace trireme::checkpoint::format
