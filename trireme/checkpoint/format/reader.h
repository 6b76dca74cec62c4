// Reader gives the bytes of a checkpoint's tensors: any flat range of any tensor, whoever wrote it
// in whatever pieces. What it gives was checked: a chunk whose checksum does not match is never
// handed out.
//
// Failure: NotFound without a manifest (an unfinished checkpoint has none) or without the tensor;
//          Corrupt names the file, the tensor and the byte; InvalidInput for the wrong key, or
//          none, of an encrypted one.
// Threads: any number of threads may read at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "trireme/base/descriptor.h"
#include "trireme/checkpoint/format/manifest.h"
#include "trireme/checkpoint/format/seal.h"

namespace trireme::checkpoint::format {

class Reader {
 public:
  // Opens the folder `step-…`: its manifest, and every file in its stated size. Without its key an
  // encrypted one can be looked into and checked, but not read.
  explicit Reader(const std::filesystem::path& folder, std::optional<net::Secret> key = {});

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const Manifest& manifest() const noexcept { return manifest_; }
  const StoredTensor& tensor(std::string_view name) const;

  // Elements [begin, begin + count) in row-major order into `out`.
  void read(const StoredTensor& tensor, std::int64_t begin, std::int64_t count,
            std::byte* out) const;

  // Compares the bytes of a chunk in its file with their checksum; throws Corrupt.
  void check(const StoredTensor& tensor, const StoredPiece& piece, std::uint64_t chunk,
             Bytes& buffer) const;

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;  // bytes of a piece
  };
  struct File {
    Descriptor descriptor;
    std::optional<Seal> seal{};  // of a part that is not plain, and can be opened
    bool is_sealed = false;
  };

  void read_piece(const StoredTensor& tensor, const StoredPiece& piece, Range wanted,
                  std::byte* out) const;
  void read_chunk(const StoredTensor& tensor, const StoredPiece& piece, Range chunk,
                  std::byte* out) const;
  // Of the chunk, in the file.
  static Range stored_range(const StoredTensor& tensor, const StoredPiece& piece,
                            std::uint64_t chunk);
  void read_stored(const StoredTensor& tensor, const StoredPiece& piece, std::uint64_t chunk,
                   Range stored, std::byte* out) const;

  std::filesystem::path folder_;
  std::optional<net::Secret> key_;
  Manifest manifest_;
  std::map<std::string, File> files_;
};

}  // namespace trireme::checkpoint::format
