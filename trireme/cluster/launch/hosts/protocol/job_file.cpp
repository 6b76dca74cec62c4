#include "trireme/cluster/launch/hosts/protocol/job_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "trireme/base/error.h"
#include "trireme/base/hash/sha256.h"

namespace trireme::cluster::launch::hosts {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashPiece = std::size_t{256} << 10;

const char* said(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

bool is_same(const fs::path& path, const JobFile& job_file) {
  std::error_code error;
  if (fs::file_size(path, error) != job_file.size || error) return false;
  if (job_file.is_executable && access(path.c_str(), X_OK) != 0) return false;
  try {
    return digest_of_file(path) == job_file.digest;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string digest_of_file(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw system_error("cannot read " + path.string(), errno);
  Sha256 sum;
  std::array<std::byte, kHashPiece> buffer;
  while (true) {
    const ssize_t size = read(file.get(), buffer.data(), buffer.size());
    if (size == 0) return to_hex(sum.digest());
    if (size > 0) {
      sum.update(ByteView(buffer).first(static_cast<std::size_t>(size)));
    } else if (errno != EINTR) {
      throw system_error("cannot read " + path.string(), errno);
    }
  }
}

JobFile JobFile::of(const fs::path& path) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) throw Error(ErrorCode::NotFound, path.string() + ": " + error.message());
  return {.path = path,
          .size = size,
          .digest = digest_of_file(path),
          .is_executable = access(path.c_str(), X_OK) == 0};
}

fs::path Cache::own_root() {
  if (const char* root = said("TRIREME_CACHE")) return root;
  if (const char* cache = said("XDG_CACHE_HOME")) return fs::path(cache) / "trireme";
  if (const char* home = said("HOME")) return fs::path(home) / ".cache" / "trireme";
  throw Error(ErrorCode::InvalidInput, "this host has no folder for copies; set HOME");
}

fs::path Cache::place_of(const JobFile& job_file) const {
  return root_ / job_file.digest / job_file.path.filename();
}

std::optional<fs::path> Cache::find(const JobFile& job_file) const {
  if (is_same(job_file.path, job_file)) return job_file.path;
  const fs::path copy = place_of(job_file);
  if (!is_same(copy, job_file)) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(copy.parent_path(), fs::file_time_type::clock::now(), ignored);
  return copy;
}

int Cache::sweep(std::chrono::hours unused) const {
  const auto oldest = fs::file_time_type::clock::now() - unused;
  int count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(root_, error), end; !error && entry != end;
       entry.increment(error)) {
    // Removes only entries whose name is a checksum.
    const bool is_ours = entry->path().filename().string().size() == 2 * sizeof(Sha256Digest);
    std::error_code ignored;
    if (!is_ours || fs::last_write_time(entry->path(), ignored) >= oldest || ignored) continue;
    if (fs::remove_all(entry->path(), ignored) > 0 && !ignored) ++count;
  }
  return count;
}

Fetch::Fetch(const Cache& cache, JobFile job_file)
    : job_file_(std::move(job_file)), place_(cache.place_of(job_file_)) {
  const bool is_digest =
      job_file_.digest.size() == 2 * sizeof(Sha256Digest) &&
      job_file_.digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_digest || !job_file_.path.has_filename()) {
    throw Error(ErrorCode::Protocol, "a file without a checksum or a name");
  }
  const mode_t before = umask(077);
  std::error_code error;
  fs::create_directories(place_.parent_path(), error);
  umask(before);
  if (error) {
    throw Error(ErrorCode::Io,
                "cannot make " + place_.parent_path().string() + ": " + error.message());
  }
  part_ = place_.string() + "." + std::to_string(getpid());
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  file_ = Descriptor(open(part_.c_str(), kFlags, job_file_.is_executable ? 0700 : 0600));
  if (!file_) throw system_error("cannot write " + part_.string(), errno);
}

Fetch::~Fetch() {
  if (file_) unlink(part_.c_str());
}

void Fetch::write(ByteView piece) {
  size_ += piece.size();
  while (!piece.empty()) {
    const ssize_t size = ::write(file_.get(), piece.data(), piece.size());
    if (size >= 0) {
      piece = piece.subspan(static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      throw system_error("cannot write " + part_.string(), errno);
    }
  }
}

fs::path Fetch::finish() {
  if (size_ != job_file_.size || digest_of_file(part_) != job_file_.digest) {
    throw Error(ErrorCode::Corrupt, "the copy of " + job_file_.path.string() +
                                        " differs from it; was it changed meanwhile?");
  }
  if (rename(part_.c_str(), place_.c_str()) != 0) {
    throw system_error("cannot make " + place_.string(), errno);
  }
  file_.reset();
  return place_;
}

}  // namespace trireme::cluster::launch::hosts
