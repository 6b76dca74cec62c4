#include "trireme/cluster/store/store_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"

namespace trireme::cluster {
namespace {

// More changes than sessions make between two recorded changes.
constexpr std::uint64_t kRevisionLeap = std::uint64_t{1} << 40;
// The file begins with this and the revision at which it was created.
constexpr std::string_view kMagic = "TRMSTOR1";
constexpr std::size_t kFileHead = kMagic.size() + sizeof(std::uint64_t);
constexpr std::size_t kRecordHead = sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::uint64_t kCompactFrom = std::uint64_t{1} << 20;
constexpr std::uint64_t kCompactRatio = 8;
constexpr std::size_t kFileMax = std::size_t{16} << 30;

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
  body.put(change.revision).put<std::uint8_t>(change.value ? 1 : 0);
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
  const bool has_value = in.get<std::uint8_t>() != 0;
  change.key = in.get_text();
  if (has_value) change.value = share(in.take(in.remaining()));
  in.expect_end();
  return change;
}

void write_all(const Descriptor& file, ByteView bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("cannot write " + path.string(), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace

StoreLog::StoreLog(const std::filesystem::path& path) : path_(path) {
  if (!std::filesystem::exists(std::filesystem::symlink_status(path_))) rewrite();
  open();
  const std::string content = read_file(path_, kFileMax);
  if (content.size() < kFileHead || !content.starts_with(kMagic)) {
    throw Error(ErrorCode::Corrupt,
                path_.string() + " is not the log of a store; remove it and start again");
  }
  size_ = read(bytes_of(content));
  if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) {
    throw system_error("cannot remove an incomplete record from " + path_.string(), errno);
  }
}

std::size_t StoreLog::read(ByteView file) {
  ByteReader in(file.subspan(kMagic.size()));
  const auto base = in.get<std::uint64_t>();
  std::size_t complete = kFileHead;
  while (in.remaining() >= kRecordHead) {
    const auto size = in.get<std::uint32_t>();
    const auto hash = in.get<std::uint64_t>();
    if (in.remaining() < size) break;
    const ByteView body = in.take(size);
    if (hash_of(body) != hash) break;
    kept_.commit(record_of(body));
    complete += kRecordHead + size;
  }
  kept_.advance(base);
  return complete;
}

void StoreLog::replay(const std::function<void(const StoreMap::Change&)>& learn) const {
  for (const StoreMap::Change& change : kept_.snapshot()) learn(change);
}

std::uint64_t StoreLog::first_revision() const {
  return kept_.revision() == 0 ? 0 : kept_.revision() + kRevisionLeap;
}

StoreState::Journal StoreLog::journal() {
  return [this](std::span<const StoreMap::Change> changes) { write(changes); };
}

void StoreLog::write(std::span<const StoreMap::Change> changes) {
  std::vector<StoreMap::Change> lasting;
  for (const StoreMap::Change& change : changes) {
    if (change.owner == StoreMap::kNobody) {
      lasting.push_back(change);
    } else if (kept_.find(change.key)) {
      // A session took over a key whose lifetime was the job.
      lasting.push_back({change.key, nullptr, change.revision, StoreMap::kNobody});
    }
  }
  if (lasting.empty()) return;
  append(lasting);
  for (const StoreMap::Change& change : lasting) kept_.commit(change);
  if (size_ < kCompactFrom || size_ < kCompactRatio * kept_.byte_size()) return;
  rewrite();
  open();
}

void StoreLog::append(std::span<const StoreMap::Change> changes) {
  ByteWriter out;
  for (const StoreMap::Change& change : changes) put_record(out, change);
  try {
    write_all(file_, out.bytes(), path_);
  } catch (const Error&) {
    // If this fails too, the next process removes the incomplete record.
    [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(size_));
    throw;
  }
  size_ += out.bytes().size();
}

// Not flushed to disk, as the log itself is not: a slow disk must not stop the store.
void StoreLog::rewrite() {
  ByteWriter out;
  out.append(bytes_of(kMagic)).put(kept_.revision());
  for (const StoreMap::Change& change : kept_.snapshot()) put_record(out, change);
  const std::filesystem::path fresh = path_.string() + ".new";
  ::unlink(fresh.c_str());
  const Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) throw system_error("cannot create " + fresh.string(), errno);
  try {
    write_all(file, out.bytes(), fresh);
    if (::rename(fresh.c_str(), path_.c_str()) != 0) {
      throw system_error("cannot rename " + fresh.string(), errno);
    }
  } catch (const Error&) {
    ::unlink(fresh.c_str());
    throw;
  }
  size_ = out.bytes().size();
}

void StoreLog::open() {
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!file_) throw system_error("cannot open " + path_.string(), errno);
}

}  // namespace trireme::cluster
