// A part is one safetensors file of a checkpoint: the pieces that one writer holds. A whole tensor
// bears its own name there, a piece of one `name@begin`, so that other programs find whole tensors
// where they expect them.
//
// Two steps, because the caller copies in between: PartLayout says where in the file's data each
// piece will lie; write_part() writes the file from memory, in large writes and without a copy.
//
// Failure: write_part() throws Exhausted on a full disk, else Io; what it left is the caller's to
//          remove, with the folder.
// Threads: PartLayout is a value.

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

namespace trireme::checkpoint::format {

inline constexpr FaultPoint kPartHalfWritten{"checkpoint.half_part"};

struct PieceForm {
  std::string name;  // of the logical tensor
  DType dtype = DType::F32;
  std::vector<std::int64_t> sizes{};  // of the logical tensor
  std::int64_t begin = 0;
  std::int64_t count = 0;

  bool is_whole() const { return begin == 0 && count == count_of(sizes); }
  std::uint64_t size() const { return static_cast<std::uint64_t>(count) * size_of(dtype); }
};

class PartLayout {
 public:
  // Throws Misuse for a range outside its tensor and for two pieces of one name.
  explicit PartLayout(std::vector<PieceForm> pieces,
                      const std::map<std::string, std::string>& metadata = {});

  const std::vector<PieceForm>& pieces() const noexcept { return pieces_; }
  // Of piece `index` as given, from the first byte after the header.
  std::uint64_t offset(std::size_t index) const { return offsets_.at(index); }
  std::uint64_t data_size() const noexcept { return data_size_; }
  // Indices of the pieces in the order of their bytes.
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
  std::vector<StoredTensor> tensors{};  // a piece each
};

struct PartOptions {
  Sealing sealing{};  // a part that is not plain has no header: the manifest alone knows it
  std::string id{};   // of the checkpoint, where the part is encrypted
  Faults* faults = nullptr;
  int rank = 0;  // of whom the fault points speak
};

// Writes the file, which must not exist, and forces it to disk. `contents` has the bytes of each
// piece, in the order in which they were given to the layout.
WrittenPart write_part(const std::filesystem::path& path, const PartLayout& layout,
                       const std::vector<ByteView>& contents, const PartOptions& options = {});

// Adds the pieces to the manifest's tensors. Throws Misuse where two parts disagree about the type
// or the sizes of a tensor.
void add_part(Manifest& manifest, WrittenPart part);

}  // namespace trireme::checkpoint::format
