#include "trireme/checkpoint/format/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/manifest_text.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

Descriptor open_file(const fs::path& folder, const StoredFile& file) {
  const fs::path path = folder / file.name;
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor && errno == ENOENT) {
    throw Error(ErrorCode::Corrupt, path.string() + " is missing");
  }
  struct stat status{};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) {
    throw system_error("opening " + path.string(), errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::Corrupt, path.string() + " is no regular file");
  }
  if (static_cast<std::uint64_t>(status.st_size) != file.size) {
    throw Error(ErrorCode::Corrupt, path.string() + " has " + std::to_string(status.st_size) +
                                        " bytes and was written with " + std::to_string(file.size));
  }
  return descriptor;
}

// Jobs find the newest checkpoint by its folder name, so an old checkpoint that was renamed to a
// later step is rejected.
void expect_step(const fs::path& folder, std::int64_t step) {
  const auto named = step_in(folder.filename().string());
  if (!named || *named == step) return;
  throw Error(ErrorCode::Corrupt, folder.string() + " holds the checkpoint of step " +
                                      std::to_string(step) + ": it was renamed");
}

}  // namespace

Reader::Reader(const fs::path& folder, const ReadOptions& options)
    : folder_(folder), key_(options.key) {
  const fs::path path = folder / kManifestName;
  manifest_ = parse_manifest(read_file(path), path.string(), options);
  expect_step(folder, manifest_.step);
  for (const StoredFile& file : manifest_.files) {
    File& opened = files_[file.name];
    opened.descriptor = open_file(folder, file);
    opened.is_sealed = file.is_sealed();
    if (opened.is_sealed && (key_ || file.key_id.empty())) {
      opened.seal.emplace(file, manifest_.id, key_, (folder / file.name).string());
    }
  }
}

// A key and an encrypted file imply that the manifest was signed with this key; the signature
// covers that every file is encrypted with the same key.
bool Reader::is_authenticated() const noexcept {
  return key_ && !manifest_.files.empty() && !manifest_.files[0].key_id.empty();
}

std::string Reader::note_if_unsigned() const {
  if (!key_ || is_authenticated()) return {};
  return folder_.string() + " is not signed with the key " + key_id(*key_) +
         ", and is read because unauthenticated checkpoints are allowed: anybody could have "
         "written it";
}

const StoredTensor& Reader::tensor(std::string_view name) const {
  const StoredTensor* found = manifest_.find(name);
  if (found == nullptr) {
    throw Error(ErrorCode::NotFound, folder_.string() + " has no tensor " + std::string(name));
  }
  return *found;
}

void Reader::read(const StoredTensor& tensor, std::int64_t begin, std::int64_t count,
                  std::byte* out) const {
  read(tensor, {.shard = mesh::Shard(tensor.view), .begin = begin, .count = count}, out);
}

void Reader::read(const StoredTensor& tensor, const mesh::ShardRange& wanted,
                  std::byte* out) const {
  const std::int64_t held = wanted.shard.count();
  TRIREME_CHECK(wanted.shard.view().tensor_sizes() == tensor.sizes(), "tensor ", tensor.name,
                " of ", mesh::text_of(tensor.sizes()), " read as one of ",
                mesh::text_of(wanted.shard.view().tensor_sizes()));
  TRIREME_CHECK(wanted.begin >= 0 && wanted.count >= 0 && wanted.begin <= held &&
                    wanted.count <= held - wanted.begin,
                wanted.count, " elements at ", wanted.begin, " of ", tensor.name, ", which has ",
                held);
  for (const StoredPiece& piece : tensor.pieces) read_piece(tensor, piece, wanted, out);
}

// The wanted elements are in ascending order in the piece, too, so each chunk is read once.
void Reader::read_piece(const StoredTensor& tensor, const StoredPiece& piece,
                        const mesh::ShardRange& wanted, std::byte* out) const {
  const std::uint64_t element = size_of(tensor.dtype);
  const std::uint64_t size = static_cast<std::uint64_t>(piece.count) * element;
  Bytes scratch;
  std::optional<std::uint64_t> held;  // the chunk in `scratch`
  const auto copy = [&](Range bytes, std::byte* to) {
    while (bytes.begin < bytes.end) {
      const std::uint64_t index = bytes.begin / kChunkSize;
      const Range chunk{.begin = index * kChunkSize,
                        .end = std::min((index + 1) * kChunkSize, size)};
      const std::uint64_t end = std::min(chunk.end, bytes.end);
      if (bytes.begin == chunk.begin && end == chunk.end) {
        read_chunk(tensor, piece, chunk, to);
      } else {
        // Only whole chunks have checksums.
        if (held != index) {
          scratch.resize(chunk.end - chunk.begin);
          read_chunk(tensor, piece, chunk, scratch.data());
          held = index;
        }
        std::memcpy(to, scratch.data() + (bytes.begin - chunk.begin), end - bytes.begin);
      }
      to += end - bytes.begin;
      bytes.begin = end;
    }
  };
  const mesh::Shard stored =
      piece.box ? mesh::Shard(tensor.view, *piece.box) : mesh::Shard(tensor.view);
  mesh::for_each_common(
      {.shard = stored, .begin = piece.begin, .count = piece.count}, wanted,
      [&](const mesh::CommonRange& common) {
        const std::uint64_t begin = static_cast<std::uint64_t>(common.a - piece.begin) * element;
        copy({.begin = begin, .end = begin + static_cast<std::uint64_t>(common.count) * element},
             out + static_cast<std::uint64_t>(common.b - wanted.begin) * element);
      });
}

void Reader::read_chunk(const StoredTensor& tensor, const StoredPiece& piece, Range chunk,
                        std::byte* out) const {
  const std::uint64_t index = chunk.begin / kChunkSize;
  const Range stored = stored_range(tensor, piece, index);
  const File& file = files_.at(piece.file);
  if (!file.is_sealed) {
    read_stored(tensor, piece, index, stored, out);
    return;
  }
  const fs::path path = folder_ / piece.file;
  const auto about = std::ranges::find(manifest_.files, piece.file, &StoredFile::name);
  // This constructor throws an error that says which key is missing.
  if (!file.seal) Seal(*about, manifest_.id, key_, path.string());
  Bytes sealed(stored.end - stored.begin);
  read_stored(tensor, piece, index, stored, sealed.data());
  try {
    file.seal->open(sealed,
                    {.tensor = tensor.name, .piece = piece, .chunk = index, .offset = stored.begin},
                    {out, chunk.end - chunk.begin});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Corrupt) throw;
    throw Error(ErrorCode::Corrupt, path.string() + ", tensor " + tensor.name + ": the chunk at " +
                                        "byte " + std::to_string(stored.begin) + " " +
                                        error.message());
  }
}

Reader::Range Reader::stored_range(const StoredTensor& tensor, const StoredPiece& piece,
                                   std::uint64_t chunk) {
  if (piece.stored.empty()) {
    const std::uint64_t size = static_cast<std::uint64_t>(piece.count) * size_of(tensor.dtype);
    return {.begin = piece.offset + chunk * kChunkSize,
            .end = piece.offset + std::min((chunk + 1) * kChunkSize, size)};
  }
  const auto first = piece.stored.begin();
  const auto at = first + static_cast<std::ptrdiff_t>(chunk);
  const std::uint64_t begin = std::accumulate(first, at, piece.offset);
  return {.begin = begin, .end = begin + *at};
}

void Reader::read_stored(const StoredTensor& tensor, const StoredPiece& piece, std::uint64_t chunk,
                         Range stored, std::byte* out) const {
  const std::string file = (folder_ / piece.file).string();
  const int descriptor = files_.at(piece.file).descriptor.get();
  const std::uint64_t size = stored.end - stored.begin;
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t count =
        ::pread(descriptor, out + done, size - done, static_cast<off_t>(stored.begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("reading " + file, errno);
    if (count == 0) {
      throw Error(ErrorCode::Corrupt, file + ", tensor " + tensor.name + ": ends at byte " +
                                          std::to_string(stored.begin + done));
    }
    done += static_cast<std::uint64_t>(count);
  }
  if (xxh64(ByteView(out, size)) != piece.checksums.at(chunk)) {
    throw Error(ErrorCode::Corrupt,
                file + ", tensor " + tensor.name + ": bytes " + std::to_string(stored.begin) +
                    " to " + std::to_string(stored.end) + " do not match their checksum");
  }
}

void Reader::check(const StoredTensor& tensor, const StoredPiece& piece, std::uint64_t chunk,
                   Bytes& buffer) const {
  const File& file = files_.at(piece.file);
  const bool is_readable = !file.is_sealed || file.seal.has_value();
  const Range stored = stored_range(tensor, piece, chunk);
  const std::uint64_t size = static_cast<std::uint64_t>(piece.count) * size_of(tensor.dtype);
  const Range whole{.begin = chunk * kChunkSize, .end = std::min((chunk + 1) * kChunkSize, size)};
  const std::uint64_t needed = is_readable ? whole.end - whole.begin : stored.end - stored.begin;
  if (buffer.size() < needed) buffer.resize(needed);
  if (is_readable) {
    read_chunk(tensor, piece, whole, buffer.data());
  } else {
    read_stored(tensor, piece, chunk, stored, buffer.data());
  }
}

}  // namespace trireme::checkpoint::format
