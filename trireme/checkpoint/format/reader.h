// Reader returns the bytes of a checkpoint's tensors: any range of any shard of any tensor,
// independent of the ranks and pieces that wrote it. It reads only the chunks that contain wanted
// elements, and verifies them: it never returns a chunk whose checksum does not match.
//
// Errors:        NotFound if the manifest (an unfinished checkpoint has none) or the tensor is
//                missing. Corrupt names the file, the tensor and the byte; it is also thrown for
//                data that was not written with the key. InvalidInput for a wrong key, for a
//                missing key, and for a key where the checkpoint is not signed (see ReadOptions).
// Thread safety: any number of threads may read at the same time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "trireme/base/file/descriptor.h"
#include "trireme/checkpoint/format/manifest.h"
#include "trireme/checkpoint/format/seal.h"

namespace trireme::checkpoint::format {

class Reader {
 public:
  // Opens the folder `step-…`: reads its manifest and checks the size of every file.
  explicit Reader(const std::filesystem::path& folder, const ReadOptions& options = {});

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const Manifest& manifest() const noexcept { return manifest_; }
  // Whether all data that this Reader returns was written with the given key.
  bool is_authenticated() const noexcept;
  // A warning for the user where a key was given and the checkpoint is not signed; else empty.
  std::string note_if_unsigned() const;
  const StoredTensor& tensor(std::string_view name) const;

  // Reads the elements [begin, begin + count) of the whole tensor, in row-major order, into `out`.
  void read(const StoredTensor& tensor, std::int64_t begin, std::int64_t count,
            std::byte* out) const;
  // Reads a range of a shard, whose view may differ from the one that was written. REQUIRES: a
  // shard of a tensor of the same sizes.
  void read(const StoredTensor& tensor, const mesh::ShardRange& wanted, std::byte* out) const;

  // Reads a chunk and discards it. If the chunk is encrypted and no key was given, compares the
  // bytes in the file with their checksum. Throws Corrupt.
  void check(const StoredTensor& tensor, const StoredPiece& piece, std::uint64_t chunk,
             Bytes& buffer) const;

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;  // bytes of a piece
  };
  struct File {
    Descriptor descriptor;
    std::optional<Seal> seal{};  // of a sealed part that can be opened
    bool is_sealed = false;
  };

  void read_piece(const StoredTensor& tensor, const StoredPiece& piece,
                  const mesh::ShardRange& wanted, std::byte* out) const;
  void read_chunk(const StoredTensor& tensor, const StoredPiece& piece, Range chunk,
                  std::byte* out) const;
  // The byte range of the chunk in the file.
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
