#include "trireme/checkpoint/format/manifest.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "trireme/base/check.h"
#include "trireme/checkpoint/format/aes_gcm.h"

namespace trireme::checkpoint::format {
namespace {

constexpr std::uint64_t kFileSizeMax = std::uint64_t{1} << 62;

// The bytes of a piece in its file.
struct FileRange {
  const StoredFile* file = nullptr;
  std::uint64_t begin = 0, end = 0;
  const StoredTensor* tensor = nullptr;
};

const StoredFile* file_named(const Manifest& manifest, const std::string& name) {
  const auto at = std::ranges::lower_bound(manifest.files, name, {}, &StoredFile::name);
  return at != manifest.files.end() && at->name == name ? &*at : nullptr;
}

std::string fault_of_files(const Manifest& manifest) {
  const StoredFile* before = nullptr;
  for (const StoredFile& file : manifest.files) {
    // File names are plain: all files are in the manifest's own folder.
    const bool is_plain_name =
        !file.name.empty() && file.name != "." && file.name != ".." &&
        file.name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (!is_plain_name) return "it lists a file called '" + file.name + "'";
    if (before != nullptr && before->name >= file.name) {
      return "file " + file.name + " is listed twice or out of order";
    }
    if (file.size > kFileSizeMax) return "file " + file.name + " has an impossible size";
    before = &file;
  }
  return {};
}

// Whether `raw` bytes can occupy `stored` bytes in the file.
bool is_possible(const StoredFile& file, std::uint64_t raw, std::uint64_t stored) {
  const std::uint64_t proof = file.key_id.empty() ? 0 : kProofSize;
  if (stored < proof) return false;
  const std::uint64_t held = stored - proof;
  return file.is_compressed ? held > 0 && held <= raw : held == raw;
}

// Sets `end` of the extent; the other fields must already be set.
std::string fault_of_chunks(const StoredPiece& piece, std::uint64_t size, FileRange& extent) {
  const std::uint64_t chunks = (size + kChunkSize - 1) / kChunkSize;
  const StoredFile& file = *extent.file;
  if (piece.checksums.size() != chunks) {
    return std::to_string(piece.checksums.size()) + " checksums for " + std::to_string(size) +
           " bytes";
  }
  if (piece.stored.size() != (file.is_sealed() ? chunks : 0)) {
    return std::to_string(piece.stored.size()) + " stored sizes for " + std::to_string(chunks) +
           " chunks in " + (file.is_sealed() ? "" : "the plain part ") + file.name;
  }
  std::uint64_t length = file.is_sealed() ? 0 : size;
  for (std::uint64_t i = 0; i < piece.stored.size(); ++i) {
    const std::uint64_t raw = std::min(kChunkSize, size - i * kChunkSize);
    if (!is_possible(file, raw, piece.stored[i])) {
      return "a chunk of " + std::to_string(raw) + " bytes cannot take " +
             std::to_string(piece.stored[i]) + " bytes in " + file.name;
    }
    length += piece.stored[i];
  }
  if (piece.offset > file.size || length > file.size - piece.offset) {
    return std::to_string(length) + " bytes at byte " + std::to_string(piece.offset) + " of " +
           file.name + ", which has " + std::to_string(file.size);
  }
  extent.end = piece.offset + length;
  return {};
}

std::string fault_of_pieces(const Manifest& manifest, const StoredTensor& tensor,
                            std::vector<FileRange>& extents) {
  for (const StoredPiece& piece : tensor.pieces) {
    if (piece.box && !piece.box->is_within(tensor.view.sizes())) {
      return "a box of " + mesh::text_of(piece.box->sizes) + " at " +
             mesh::text_of(piece.box->begin) + " of a view of " +
             mesh::text_of(tensor.view.sizes());
    }
    const std::int64_t total = tensor.count_in_box(piece);
    if (piece.begin < 0 || piece.count < 0 || piece.begin > total ||
        piece.count > total - piece.begin) {
      return "a piece of " + std::to_string(piece.count) + " elements at element " +
             std::to_string(piece.begin) + " of " + std::to_string(total);
    }
    FileRange extent{
        .file = file_named(manifest, piece.file), .begin = piece.offset, .tensor = &tensor};
    if (extent.file == nullptr) return "it lies in " + piece.file + ", which is not listed";
    const std::uint64_t size = static_cast<std::uint64_t>(piece.count) * size_of(tensor.dtype);
    if (std::string fault = fault_of_chunks(piece, size, extent); !fault.empty()) return fault;
    if (extent.end > extent.begin) extents.push_back(extent);
  }
  return {};
}

// Returns the first gap between pieces of the same box. REQUIRES: the pieces are within the box and
// sorted by `begin`.
std::string gap_in_box(const StoredTensor& tensor, std::span<const StoredPiece> pieces) {
  const auto& box = pieces.front().box;
  const std::string where = box ? "the box of " + box->to_text() + ": " : "";
  std::int64_t at = 0;
  for (const StoredPiece& piece : pieces) {
    if (piece.begin != at) {
      return where + "a piece begins at element " + std::to_string(piece.begin) + " where " +
             std::to_string(at) + " should";
    }
    at += piece.count;
  }
  const std::int64_t total = tensor.count_in_box(pieces.front());
  if (at == total) return {};
  return where + "it has " + std::to_string(total) + " elements, its pieces " + std::to_string(at);
}

// Returns the first element that the pieces do not store exactly once. REQUIRES: the pieces are
// within the tensor and sorted by box and `begin`.
std::string gap_in(const StoredTensor& tensor) {
  std::vector<mesh::Box> boxes;
  for (auto rest = std::span(tensor.pieces); !rest.empty();) {
    const auto next = std::ranges::find_if(
        rest, [&](const StoredPiece& piece) { return piece.box != rest.front().box; });
    const auto own = rest.first(static_cast<std::size_t>(next - rest.begin()));
    if (std::string gap = gap_in_box(tensor, own); !gap.empty()) return gap;
    const mesh::Box box = own.front().box.value_or(mesh::Box::whole(tensor.view.sizes()));
    if (box.count() > 0) boxes.push_back(box);
    rest = rest.subspan(own.size());
  }
  return mesh::fault_in_cover(tensor.view.sizes(), boxes);
}

// If two pieces could share bytes, a small file could claim any amount of memory.
std::string overlap_in(std::vector<FileRange>& extents) {
  std::ranges::sort(extents, {},
                    [](const FileRange& one) { return std::tie(one.file, one.begin); });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const FileRange &one = extents[i - 1], &next = extents[i];
    if (one.file == next.file && next.begin < one.end) {
      return "tensors " + one.tensor->name + " and " + next.tensor->name + " share bytes of " +
             one.file->name;
    }
  }
  return {};
}

}  // namespace

const StoredTensor* Manifest::find(std::string_view name) const {
  const auto at = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const StoredTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return at != tensors.end() && at->name == name ? &*at : nullptr;
}

std::uint64_t Manifest::data_size() const {
  std::uint64_t size = 0;
  for (const StoredTensor& tensor : tensors) size += tensor.size();
  return size;
}

std::string fault_in(const Manifest& manifest, Coverage coverage) {
  if (std::string fault = fault_of_files(manifest); !fault.empty()) return fault;
  std::vector<FileRange> extents;
  const StoredTensor* before = nullptr;
  for (const StoredTensor& tensor : manifest.tensors) {
    std::string fault = fault_of_pieces(manifest, tensor, extents);
    if (coverage == Coverage::Whole && fault.empty()) {
      if (before != nullptr && before->name >= tensor.name)
        fault = "it is there twice or out of order";
      if (fault.empty()) fault = gap_in(tensor);
    }
    if (!fault.empty()) return "tensor " + tensor.name + ": " + fault;
    before = &tensor;
  }
  return overlap_in(extents);
}

void settle(Manifest& manifest) {
  std::ranges::sort(manifest.files, {}, &StoredFile::name);
  std::ranges::sort(manifest.tensors, {}, &StoredTensor::name);
  for (StoredTensor& tensor : manifest.tensors) {
    std::ranges::sort(tensor.pieces, {},
                      [](const StoredPiece& piece) { return std::tie(piece.box, piece.begin); });
  }
  const std::string fault = fault_in(manifest, Coverage::Whole);
  TRIREME_CHECK(fault.empty(), fault);
}

}  // namespace trireme::checkpoint::format
