#include "trireme/cluster/store/store_journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

// A file begins with this and the revision at which it was created.
constexpr std::string_view kMagic = "TRMSTOR1";
constexpr std::size_t kFileHead = kMagic.size() + sizeof(std::uint64_t);
constexpr std::size_t kRecordHead = sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t kRecordMax = std::size_t{17} << 20;
constexpr std::uint64_t kCompactFrom = std::uint64_t{1} << 20;
constexpr std::uint64_t kCompactRatio = 8;
constexpr std::size_t kReadSize = std::size_t{64} << 10;

// FNV-1a: the hash protects against torn writes, not against attackers.
std::uint64_t hash_of(ByteView bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  }
  return hash;
}

void put_record(ByteWriter& out, const StoreMap::Change& change) {
  ByteWriter body;
  body.put(change.revision).put(change.owner);
  body.put<std::uint8_t>(change.value ? 1 : 0);
  body.put_text(change.key);
  if (change.value) body.append(*change.value);
  out.put(static_cast<std::uint32_t>(body.bytes().size()));
  out.put(hash_of(body.bytes()));
  out.append(body.bytes());
}

StoreMap::Change record_of(ByteView body) {
  ByteReader in(body);
  StoreMap::Change change;
  change.revision = in.get<std::uint64_t>();
  change.owner = in.get<std::uint64_t>();
  const bool has_value = in.get<std::uint8_t>() != 0;
  change.key = in.get_text();
  if (has_value) change.value = share(in.take(in.remaining()));
  in.expect_end();
  return change;
}

void write_all(const Descriptor& file, ByteView bytes, std::uint64_t offset,
               const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw system_error("cannot write " + path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

Bytes read_at(const Descriptor& file, std::size_t size, std::uint64_t offset,
              const std::string& path) {
  Bytes bytes(size);
  ssize_t got = -1;
  do {
    got = ::pread(file.get(), bytes.data(), size, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw system_error("cannot read " + path, errno);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

std::uint64_t size_of(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) throw system_error("cannot stat " + path, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

void StoreJournal::open() {
  if (::access(path_.c_str(), F_OK) != 0) make(nullptr);
  reopen();
}

// Writes a complete file beside the current one and renames it into place.
void StoreJournal::make(const StoreMap* map) const {
  ByteWriter out;
  out.append(bytes_of(kMagic)).put(map ? map->revision() : std::uint64_t{0});
  if (map) {
    for (const StoreMap::Change& change : map->snapshot()) put_record(out, change);
  }
  const std::string fresh = path_ + ".new";
  const Descriptor file(
      ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw system_error("cannot make " + fresh, errno);
  try {
    write_all(file, out.bytes(), 0, fresh);
  } catch (const Error&) {
    ::unlink(fresh.c_str());
    throw;
  }
  if (::rename(fresh.c_str(), path_.c_str()) != 0) {
    throw system_error("cannot rename " + fresh, errno);
  }
}

void StoreJournal::reopen() {
  const bool is_first = !file_;
  Descriptor opened(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!opened) throw system_error("cannot open " + path_, errno);
  const Bytes head = read_at(opened, kFileHead, 0, path_);
  if (head.size() != kFileHead || text_of(head).substr(0, kMagic.size()) != kMagic) {
    throw Error(ErrorCode::Corrupt, path_ + " is not a store; remove the folder and start again");
  }
  base_ = ByteReader(ByteView(head).subspan(kMagic.size())).get<std::uint64_t>();
  if (!is_first && base_ > revision_) {
    throw Error(ErrorCode::PeerLost, "this process missed changes of the store in " + path_ +
                                         " that can no longer be read");
  }
  file_ = std::move(opened);
  offset_ = kFileHead;
}

bool StoreJournal::was_replaced() const {
  struct stat mine{}, named{};
  if (::fstat(file_.get(), &mine) != 0) throw system_error("cannot stat " + path_, errno);
  if (::stat(path_.c_str(), &named) != 0) {
    throw Error(ErrorCode::PeerLost, path_ + " was removed while the store was in use");
  }
  return mine.st_ino != named.st_ino || mine.st_dev != named.st_dev;
}

void StoreJournal::read(const Learn& learn, Access access) {
  read_to_end(learn);
  while (was_replaced()) {
    // The old file was final before the new one got its name, so the rest of the old file comes
    // first.
    read_to_end(learn);
    reopen();
    read_to_end(learn);
  }
  if (revision_ < base_) {
    revision_ = base_;
    learn({"", nullptr, base_, StoreMap::kNobody});
  }
  if (access == Access::Writing && size_of(file_, path_) > offset_ &&
      ::ftruncate(file_.get(), static_cast<off_t>(offset_)) != 0) {
    throw system_error("cannot cut a torn record off " + path_, errno);
  }
}

void StoreJournal::read_to_end(const Learn& learn) {
  std::size_t want = kReadSize;
  for (;;) {
    const Bytes bytes = read_at(file_, want, offset_, path_);
    const std::size_t needed = take_records(bytes, learn);
    if (bytes.size() < want || needed == 0) return;
    want = std::max(kReadSize, needed);
  }
}

std::size_t StoreJournal::take_records(ByteView bytes, const Learn& learn) {
  while (bytes.size() >= kRecordHead) {
    ByteReader in(bytes);
    const auto size = in.get<std::uint32_t>();
    const auto hash = in.get<std::uint64_t>();
    if (size > kRecordMax) return 0;
    if (in.remaining() < size) return kRecordHead + size;
    const ByteView body = in.take(size);
    if (hash_of(body) != hash) return 0;
    const StoreMap::Change change = record_of(body);
    offset_ += kRecordHead + size;
    bytes = bytes.subspan(kRecordHead + size);
    // A compacted file repeats changes that its readers have seen.
    if (change.revision <= revision_) continue;
    revision_ = change.revision;
    learn(change);
  }
  return kRecordHead;
}

void StoreJournal::append(std::span<const StoreMap::Change> changes) {
  ByteWriter out;
  for (const StoreMap::Change& change : changes) put_record(out, change);
  try {
    write_all(file_, out.bytes(), offset_, path_);
  } catch (const Error&) {
    // If this fails too, the next writer cuts the torn record off.
    [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(offset_));
    throw;
  }
  offset_ += out.bytes().size();
  if (!changes.empty()) revision_ = changes.back().revision;
}

void StoreJournal::compact_if_worthwhile(const StoreMap& map) {
  if (offset_ < kCompactFrom || offset_ < kCompactRatio * map.byte_size()) return;
  make(&map);
  reopen();
  offset_ = size_of(file_, path_);
}

}  // namespace trireme::cluster
