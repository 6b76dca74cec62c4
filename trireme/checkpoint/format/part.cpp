#include "trireme/checkpoint/format/part.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/base/hash/xxh64.h"

namespace trireme::checkpoint::format {
namespace {

constexpr std::size_t kWriteSize = std::size_t{8} << 20;
constexpr std::size_t kPage = kDataAlignment;

// Writes data in order and combines data that is contiguous in memory into one write. Whole pages
// with the same alignment in memory and in the file are written with direct I/O where the file
// system supports it: copying them into the page cache would take CPU time from the training that
// runs at the same time.
class GatheringWriter {
 public:
  explicit GatheringWriter(const std::filesystem::path& path) : path_(path) {
    descriptor_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!descriptor_) throw system_error("creating " + path.string(), errno);
  }

  void add(ByteView bytes) {
    if (bytes.empty()) return;
    if (pending_.data() + pending_.size() == bytes.data()) {
      pending_ = ByteView(pending_.data(), pending_.size() + bytes.size());
    } else {
      flush();
      pending_ = bytes;
    }
    if (pending_.size() >= kWriteSize) write(pending_.size() / kPage * kPage);
  }

  void flush() {
    write(pending_.size() / kPage * kPage);
    write(pending_.size());
  }

  void finish() {
    flush();
    if (::fsync(descriptor_.get()) != 0) {
      throw system_error("writing to disk " + path_.string(), errno);
    }
  }

 private:
  void write(std::size_t size) {
    while (size > 0) {
      const bool is_aligned = (position_ | size | address_of(pending_)) % kPage == 0;
      set_direct(is_aligned);
      const ssize_t count = ::write(descriptor_.get(), pending_.data(), size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EINVAL && is_direct_) {
        can_be_direct_ = false;
        continue;
      }
      if (count < 0) throw system_error("writing " + path_.string(), errno);
      pending_ = pending_.subspan(static_cast<std::size_t>(count));
      position_ += static_cast<std::uint64_t>(count);
      size -= static_cast<std::size_t>(count);
    }
  }

  static std::uint64_t address_of(ByteView bytes) {
    return reinterpret_cast<std::uintptr_t>(bytes.data());
  }

  void set_direct(bool is_wanted) {
    const bool is_direct = is_wanted && can_be_direct_;
    if (is_direct == is_direct_) return;
    const int flags = is_direct ? O_DIRECT : 0;
    if (::fcntl(descriptor_.get(), F_SETFL, flags) == 0) {
      is_direct_ = is_direct;
    } else {
      can_be_direct_ = false;  // such as a file system in memory
    }
  }

  std::filesystem::path path_;
  Descriptor descriptor_;
  ByteView pending_;
  std::uint64_t position_ = 0;
  bool is_direct_ = false;
  bool can_be_direct_ = true;
};

// Writes chunks in the file's format and records their sizes and checksums for the manifest.
class ChunkWriter {
 public:
  ChunkWriter(const std::filesystem::path& path, const Seal* seal) : writer_(path), seal_(seal) {}

  std::uint64_t position() const noexcept { return position_; }

  void add_plain(ByteView bytes) {
    writer_.add(bytes);
    position_ += bytes.size();
  }

  void add(ByteView chunk, const std::string& tensor, StoredPiece& piece) {
    if (seal_ == nullptr) {
      // Computes the checksum first: reading the bytes brings them into the cache for the write.
      piece.checksums.push_back(xxh64(chunk));
      add_plain(chunk);
      return;
    }
    const Bytes sealed = seal_->close(
        chunk,
        {.tensor = tensor, .piece = piece, .chunk = piece.checksums.size(), .offset = position_});
    piece.checksums.push_back(xxh64(sealed));
    piece.stored.push_back(sealed.size());
    add_plain(sealed);
    writer_.flush();  // before `sealed` goes out of scope
  }

  void finish() { writer_.finish(); }

 private:
  GatheringWriter writer_;
  const Seal* seal_;
  std::uint64_t position_ = 0;
};

Entry entry_of(const PieceForm& piece) {
  Entry entry{.name = piece.name, .dtype = piece.dtype, .sizes = piece.shard.sizes()};
  if (!piece.shard.is_whole()) {
    std::string place;
    for (const std::int64_t begin : piece.shard.box().begin) {
      place += (place.empty() ? "" : ",") + std::to_string(begin);
    }
    entry.name += "@" + place;
  }
  if (!piece.is_all_of_shard()) {
    entry.name += "@" + std::to_string(piece.begin);
    entry.sizes = {piece.count};
  }
  return entry;
}

void check_form(const PieceForm& piece) {
  TRIREME_CHECK(
      piece.begin >= 0 && piece.count >= 0 && piece.begin + piece.count <= piece.shard.count(),
      "tensor ", piece.name, ": elements ", piece.begin, " to ", piece.begin + piece.count, " of ",
      piece.shard.count());
}

}  // namespace

PartLayout::PartLayout(std::vector<PieceForm> pieces,
                       const std::map<std::string, std::string>& metadata)
    : pieces_(std::move(pieces)), offsets_(pieces_.size()) {
  std::vector<Entry> entries;
  std::set<std::string> names;
  for (const PieceForm& piece : pieces_) {
    check_form(piece);
    entries.push_back(entry_of(piece));
    TRIREME_CHECK(names.insert(entries.back().name).second, "two pieces are called ",
                  entries.back().name);
  }
  order_ = lay_out(entries);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    offsets_[order_[i]] = entries[i].begin;
    data_size_ += entries[i].size;
  }
  header_ = header_text(entries, metadata);
}

WrittenPart write_part(const std::filesystem::path& path, const PartLayout& layout,
                       const std::vector<ByteView>& contents, const PartOptions& options) {
  TRIREME_CHECK_EQ(contents.size(), layout.pieces().size(), "contents of a part");
  WrittenPart part{.file = {.name = path.filename().string()}};
  std::optional<Seal> seal;
  if (!options.sealing.is_plain()) seal.emplace(options.sealing, options.id, part.file);
  ChunkWriter writer(path, seal ? &*seal : nullptr);
  if (!seal) writer.add_plain(bytes_of(layout.header()));
  std::size_t done = 0;
  for (const std::size_t index : layout.order()) {
    const PieceForm& form = layout.pieces()[index];
    TRIREME_CHECK_EQ(contents[index].size(), form.size(), "bytes of ", form.name);
    StoredPiece piece{.file = part.file.name,
                      .begin = form.begin,
                      .count = form.count,
                      .offset = writer.position()};
    if (!form.shard.is_whole()) piece.box = form.shard.box();
    for (ByteView rest = contents[index]; !rest.empty();) {
      const ByteView chunk = rest.first(std::min<std::size_t>(rest.size(), kChunkSize));
      writer.add(chunk, form.name, piece);
      rest = rest.subspan(chunk.size());
    }
    part.tensors.push_back(
        {.name = form.name, .dtype = form.dtype, .view = form.shard.view(), .pieces = {piece}});
    if (++done == layout.order().size() / 2) reach(options.faults, kPartHalfWritten, options.rank);
  }
  writer.finish();
  part.file.size = writer.position();
  return part;
}

void add_part(Manifest& manifest, WrittenPart part) {
  manifest.files.push_back(std::move(part.file));
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < manifest.tensors.size(); ++i) known[manifest.tensors[i].name] = i;
  for (StoredTensor& tensor : part.tensors) {
    const auto [at, is_new] = known.emplace(tensor.name, manifest.tensors.size());
    if (is_new) {
      manifest.tensors.push_back(std::move(tensor));
      continue;
    }
    StoredTensor& held = manifest.tensors[at->second];
    TRIREME_CHECK(held.dtype == tensor.dtype && held.view == tensor.view, "tensor ", tensor.name,
                  " has another view or another type than in earlier parts");
    std::ranges::move(tensor.pieces, std::back_inserter(held.pieces));
  }
}

}  // namespace trireme::checkpoint::format
