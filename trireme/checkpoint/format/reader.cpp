#include "trireme/checkpoint/format/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/base/xxh64.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

Descriptor open_file(const fs::path& folder, const StoredFile& file) {
  const fs::path path = folder / file.name;
  // A manifest names files beside itself; anything else was not written by us.
  if (file.name.empty() || fs::path(file.name).filename() != file.name) {
    throw Error(ErrorCode::Corrupt, folder.string() + " lists a file called '" + file.name + "'");
  }
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor && errno == ENOENT) {
    throw Error(ErrorCode::Corrupt, path.string() + " is missing");
  }
  struct stat status{};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) {
    throw system_error("opening " + path.string(), errno);
  }
  if (static_cast<std::uint64_t>(status.st_size) != file.size) {
    throw Error(ErrorCode::Corrupt, path.string() + " has " + std::to_string(status.st_size) +
                                        " bytes and was written with " + std::to_string(file.size));
  }
  return descriptor;
}

}  // namespace

Reader::Reader(const fs::path& folder) : folder_(folder) {
  const fs::path path = folder / kManifestName;
  manifest_ = parse_manifest(read_file(path), path.string());
  for (const StoredFile& file : manifest_.files) files_[file.name] = open_file(folder, file);
  for (const StoredTensor& tensor : manifest_.tensors) {
    for (const StoredPiece& piece : tensor.pieces) {
      if (!files_.contains(piece.file)) {
        throw Error(ErrorCode::Corrupt, path.string() + ": tensor " + tensor.name + " lies in " +
                                            piece.file + ", which is not listed");
      }
    }
  }
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
  TRIREME_CHECK(begin >= 0 && count >= 0 && begin + count <= tensor.count(), "elements ", begin,
                " to ", begin + count, " of ", tensor.name, ", which has ", tensor.count());
  const std::size_t element = size_of(tensor.dtype);
  for (const StoredPiece& piece : tensor.pieces) {
    const std::int64_t first = std::max(begin, piece.begin);
    const std::int64_t last = std::min(begin + count, piece.begin + piece.count);
    if (first >= last) continue;
    read_piece(tensor, piece,
               {.begin = static_cast<std::uint64_t>(first - piece.begin) * element,
                .end = static_cast<std::uint64_t>(last - piece.begin) * element},
               out + static_cast<std::size_t>(first - begin) * element);
  }
}

void Reader::read_piece(const StoredTensor& tensor, const StoredPiece& piece, Range wanted,
                        std::byte* out) const {
  const std::uint64_t size = static_cast<std::uint64_t>(piece.count) * size_of(tensor.dtype);
  Bytes scratch;
  for (std::uint64_t at = wanted.begin / kChunkSize * kChunkSize; at < wanted.end;
       at += kChunkSize) {
    const Range chunk{.begin = at, .end = std::min(at + kChunkSize, size)};
    const std::uint64_t first = std::max(chunk.begin, wanted.begin);
    const std::uint64_t last = std::min(chunk.end, wanted.end);
    if (first == chunk.begin && last == chunk.end) {
      read_chunk(tensor, piece, chunk, out);
    } else {
      // Only the whole chunk has a checksum.
      scratch.resize(chunk.end - chunk.begin);
      read_chunk(tensor, piece, chunk, scratch.data());
      std::memcpy(out, scratch.data() + (first - chunk.begin), last - first);
    }
    out += last - first;
  }
}

void Reader::read_chunk(const StoredTensor& tensor, const StoredPiece& piece, Range chunk,
                        std::byte* out) const {
  const std::string file = (folder_ / piece.file).string();
  const int descriptor = files_.at(piece.file).get();
  const std::uint64_t size = chunk.end - chunk.begin;
  const std::uint64_t offset = piece.offset + chunk.begin;
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t count =
        ::pread(descriptor, out + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("reading " + file, errno);
    if (count == 0) {
      throw Error(ErrorCode::Corrupt, file + ", tensor " + tensor.name + ": ends at byte " +
                                          std::to_string(offset + done));
    }
    done += static_cast<std::uint64_t>(count);
  }
  if (xxh64(ByteView(out, size)) != piece.checksums.at(chunk.begin / kChunkSize)) {
    throw Error(ErrorCode::Corrupt,
                file + ", tensor " + tensor.name + ": bytes " + std::to_string(offset) + " to " +
                    std::to_string(offset + size) + " do not match their checksum");
  }
}

}  // namespace trireme::checkpoint::format
