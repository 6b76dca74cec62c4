#include "trireme/checkpoint/format/verify.h"

#include <algorithm>
#include <ranges>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/safetensors.h"

namespace trireme::checkpoint::format {
namespace {

// Reader does not need the header of a part, but other programs do.
void add_header_damage(const Reader& reader, std::vector<std::string>& damage) {
  for (const StoredFile& file : reader.manifest().files) {
    if (file.is_sealed()) continue;
    try {
      read_header(reader.folder() / file.name);
    } catch (const Error& error) {
      if (!is_damage(error)) throw;
      damage.emplace_back(error.message());
    }
  }
}

void add_piece_damage(const Reader& reader, const StoredTensor& tensor, const StoredPiece& piece,
                      Bytes& buffer, std::vector<std::string>& damage) {
  for (std::uint64_t chunk = 0; chunk < piece.checksums.size(); ++chunk) {
    try {
      reader.check(tensor, piece, chunk, buffer);
    } catch (const Error& error) {
      if (!is_damage(error)) throw;
      damage.emplace_back(error.message());
    }
  }
}

void add_meta_damage(const Reader& reader, const MetaCheck& check,
                     std::vector<std::string>& damage) {
  if (!check) return;
  try {
    check(reader.manifest().meta, reader.manifest().step);
  } catch (const Error& error) {
    if (!is_damage(error)) throw;
    damage.push_back((reader.folder() / kManifestName).string() + ", meta: " + error.message());
  }
}

}  // namespace

bool is_damage(const Error& error) noexcept {
  return error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::NotFound;
}

std::vector<std::string> damage_in(const std::filesystem::path& checkpoint,
                                   const ReadOptions& options, const MetaCheck& check) {
  std::vector<std::string> damage;
  try {
    const Reader reader(checkpoint, options);
    add_meta_damage(reader, check, damage);
    add_header_damage(reader, damage);
    Bytes buffer;
    for (const StoredTensor& tensor : reader.manifest().tensors) {
      for (const StoredPiece& piece : tensor.pieces) {
        add_piece_damage(reader, tensor, piece, buffer, damage);
      }
    }
  } catch (const Error& error) {
    if (!is_damage(error)) throw;
    damage.emplace_back(error.message());
  }
  return damage;
}

Newest find_newest_whole(const std::filesystem::path& folder, const ReadOptions& options,
                         const MetaCheck& check) {
  // A running job writes newer checkpoints and removes older ones, perhaps while they are read.
  constexpr int kAttempts = 10;
  Newest newest;
  bool is_one_removed = true;
  for (int attempt = 0; is_one_removed && attempt < kAttempts; ++attempt) {
    newest = {};
    is_one_removed = false;
    const std::vector<Listed> listed = list_checkpoints(folder);
    for (const Listed& candidate : std::views::reverse(listed)) {
      const std::vector<std::string> damage = damage_in(candidate.path, options, check);
      if (damage.empty()) {
        newest.path = candidate.path;
        return newest;
      }
      if (std::filesystem::exists(candidate.path)) {
        newest.skipped.push_back({.path = candidate.path, .reason = damage.front()});
      } else {
        is_one_removed = true;
      }
    }
  }
  return newest;
}

}  // namespace trireme::checkpoint::format
