// Manifest describes a checkpoint: the logical tensors of a model and the pieces that each tensor
// consists of. It describes the model and not the job that wrote it, so a job with any layout can
// read it.
//
// A piece is a flat, row-major range within a box of a view of its tensor, and is stored in one
// file. All pieces of a tensor have the same view. Its boxes cover the view, and the pieces of a
// box cover the box: every element is stored exactly once. Every kChunkSize bytes of a piece have a
// checksum, so a reader verifies exactly the chunks that it reads and can report the position of
// damage.
//
// Validation:    a manifest that was parsed (manifest_text.h) or settled has passed fault_in().
//                Readers may therefore rely on its sizes: every chunk is within its file and has a
//                possible size.
// Thread safety: values; the functions are pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/checkpoint/format/dtype.h"
#include "trireme/mesh/shard.h"

namespace trireme::checkpoint::format {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::uint64_t kChunkSize = std::uint64_t{4} << 20;

struct StoredPiece {
  std::string file;
  std::optional<mesh::Box> box{};  // of the tensor's view; nothing: all of it
  std::int64_t begin = 0;          // first element, within the box
  std::int64_t count = 0;
  std::uint64_t offset = 0;                // position of its first byte in the file
  std::vector<std::uint64_t> checksums{};  // XXH64 of the bytes in the file, per chunk
  std::vector<std::uint64_t> stored{};     // bytes in the file, per chunk; empty for a plain part
};

struct StoredTensor {
  std::string name;
  StoredDType dtype = StoredDType::F32;
  mesh::View view{};
  std::vector<StoredPiece> pieces{};  // sorted by box and `begin`

  const std::vector<std::int64_t>& sizes() const { return view.tensor_sizes(); }
  std::int64_t count() const { return view.count(); }
  std::int64_t count_in_box(const StoredPiece& piece) const {
    return piece.box ? piece.box->count() : count();
  }
  std::uint64_t size() const { return static_cast<std::uint64_t>(count()) * size_of(dtype); }
};

struct StoredFile {
  std::string name;
  std::uint64_t size = 0;
  bool is_compressed = false;  // with zstd, per chunk
  std::string key_id{};        // of an encrypted file, see seal.h
  std::string salt{};

  bool is_sealed() const { return is_compressed || !key_id.empty(); }
};

struct Manifest {
  std::int64_t step = 0;
  std::optional<double> score{};
  std::string meta = "{}";              // a JSON object, defined by the caller
  std::string id{};                     // unique to the attempt that wrote it
  std::vector<StoredFile> files{};      // sorted by name
  std::vector<StoredTensor> tensors{};  // sorted by name

  // Returns null if there is no tensor of that name.
  const StoredTensor* find(std::string_view name) const;
  std::uint64_t data_size() const;
};

// Whether the manifest covers all pieces of every tensor or only the pieces of one writer.
enum class Coverage { Whole, Part };

// Describes why the manifest is invalid; empty if it is valid. All sizes and offsets that come from
// a file are checked here.
std::string fault_in(const Manifest& manifest, Coverage coverage);

// Sorts the entries, then throws Misuse if the manifest is invalid.
void settle(Manifest& manifest);

}  // namespace trireme::checkpoint::format
