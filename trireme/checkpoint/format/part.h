// A part is one safetensors file of a checkpoint: the pieces of one writer. A whole tensor is
// stored under its own name, so that other programs find it; a range of it as `name@begin`; the box
// of a view as `name@0,6,0,0` (where it begins) with the shape of its shard; a range of that box as
// `name@0,6,0,0@begin`.
//
// Writing has two steps because the caller copies the data in between: PartLayout computes the
// offset of each piece in the file; write_part() writes the file from memory, in large writes and
// without another copy.
//
// Errors:        write_part() throws Exhausted if the disk is full, otherwise Io. The caller
//                removes the incomplete file, together with its folder.
// Thread safety: PartLayout is a value.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/fault.h"
#include "trireme/checkpoint/format/manifest.h"
#include "trireme/checkpoint/format/safetensors.h"
#include "trireme/checkpoint/format/seal.h"
#include "trireme/mesh/shard.h"

namespace trireme::checkpoint::format {

inline constexpr FaultPoint kPartHalfWritten{"checkpoint.half_part"};

struct PieceForm {
  std::string name;  // name of the logical tensor
  StoredDType dtype = StoredDType::F32;
  mesh::Shard shard{};     // of the logical tensor
  std::int64_t begin = 0;  // within the shard
  std::int64_t count = 0;

  bool is_all_of_shard() const { return begin == 0 && count == shard.count(); }
  std::uint64_t size() const { return static_cast<std::uint64_t>(count) * size_of(dtype); }
};

class PartLayout {
 public:
  // Throws Misuse for a range outside its shard and for two pieces with the same name.
  explicit PartLayout(std::vector<PieceForm> pieces,
                      const std::map<std::string, std::string>& metadata = {});

  const std::vector<PieceForm>& pieces() const noexcept { return pieces_; }
  // Offset of piece `index` (in the constructor's order) from the first byte after the header.
  std::uint64_t offset(std::size_t index) const { return offsets_.at(index); }
  std::uint64_t data_size() const noexcept { return data_size_; }
  // Indices of the pieces, in the order of their bytes.
  const std::vector<std::size_t>& order() const noexcept { return order_; }
  const std::string& header() const noexcept { return header_; }

 private:
  std::vector<PieceForm> pieces_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::size_t> order_;
  std::string header_;
  std::uint64_t data_size_ = 0;
};

struct WrittenPart {
  StoredFile file;
  std::vector<StoredTensor> tensors{};  // one piece each
};

struct PartOptions {
  Sealing sealing{};  // a sealed part has no header; only the manifest describes it
  std::string id{};   // of the checkpoint; used if the part is encrypted
  Faults* faults = nullptr;
  int rank = 0;  // rank that the fault points report
};

// Writes the file, which must not exist, and flushes it to disk. `contents` holds the bytes of each
// piece, in the order in which the pieces were given to the layout.
WrittenPart write_part(const std::filesystem::path& path, const PartLayout& layout,
                       const std::vector<ByteView>& contents, const PartOptions& options = {});

// Adds the pieces to the manifest's tensors. Throws Misuse if two parts disagree about the type or
// the view of a tensor.
void add_part(Manifest& manifest, WrittenPart part);

}  // namespace trireme::checkpoint::format
