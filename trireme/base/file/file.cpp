#include "trireme/base/file/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"

namespace trireme {
namespace fs = std::filesystem;
namespace {

// ".<name>.<16 hexadecimal digits>.trireme-tmp": a hidden name that no other program uses.
constexpr std::string_view kSuffix = ".trireme-tmp";

Error failed(std::string_view action, const fs::path& path, int number) {
  return system_error(std::string(action) + " " + path.string(), number);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// A locked temporary file. The destructor deletes it unless it was renamed before.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& target, mode_t mode) : target_(target) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (create(mode)) return;
    }
    throw Error(ErrorCode::Io, "temporary files for " + target.string() + " are swept away");
  }
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(ByteView content) {
    while (!content.empty()) {
      const ssize_t count = ::write(descriptor_.get(), content.data(), content.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw failed("writing", target_, errno);
      content = content.subspan(static_cast<std::size_t>(count));
    }
    if (::fsync(descriptor_.get()) != 0) throw failed("writing to disk", target_, errno);
  }

  void rename() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) throw failed("renaming to", target_, errno);
    path_.clear();
  }

 private:
  static constexpr int kAttempts = 100;

  // Returns false if a sweep deleted the file between its creation and its lock.
  bool create(mode_t mode) {
    const std::string name = "." + target_.filename().string() + "." + secure_random_hex(8);
    const fs::path path = folder_of(target_) / (name + std::string(kSuffix));
    descriptor_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!descriptor_) throw failed("creating a temporary file for", target_, errno);
    path_ = path;
    struct stat status{};
    const bool is_locked = ::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0;
    // On a file system without locks, sweeps cannot lock and therefore never delete the file.
    if (!is_locked && errno != EWOULDBLOCK) return true;
    return is_locked && ::fstat(descriptor_.get(), &status) == 0 && status.st_nlink > 0;
  }

  fs::path target_;
  fs::path path_;
  Descriptor descriptor_;
};

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) throw failed("opening", folder, errno);
  // Some network file systems have nothing to flush and return EINVAL.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) {
    throw failed("writing to disk", folder, errno);
  }
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with('.') && name.ends_with(kSuffix) && name.size() > kSuffix.size() + 17;
}

bool sweep_one(const fs::path& path) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor || ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) return false;
  struct stat ours{};
  struct stat named{};
  // The name must still refer to the file that was locked.
  if (::fstat(descriptor.get(), &ours) != 0 || ::lstat(path.c_str(), &named) != 0) return false;
  return ours.st_ino == named.st_ino && S_ISREG(ours.st_mode) && ::unlink(path.c_str()) == 0;
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t size_max) {
  // Non-blocking, so that opening a pipe without a writer does not hang; it is refused below.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor && (errno == ENOENT || errno == ENOTDIR)) {
    throw Error(ErrorCode::NotFound, path.string() + " does not exist");
  }
  struct stat status{};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) throw failed("opening", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::InvalidInput, path.string() + " is not a regular file");
  }
  std::string content;
  std::size_t size = 0;
  // The size is only a hint: files in /proc report 0, and a file may grow while it is read.
  std::size_t room = std::min<std::size_t>(static_cast<std::size_t>(status.st_size), size_max) + 1;
  while (true) {
    content.resize(size + room);
    const ssize_t count = ::read(descriptor.get(), content.data() + size, room);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw failed("reading", path, errno);
    size += static_cast<std::size_t>(count);
    if (size > size_max) {
      throw Error(ErrorCode::Exhausted,
                  path.string() + " has more than " + std::to_string(size_max) + " bytes");
    }
    if (count == 0) break;
    room = std::min<std::size_t>(std::max<std::size_t>(size, 4096), size_max - size + 1);
  }
  content.resize(size);
  return content;
}

void write_file_atomically(const fs::path& path, ByteView content, const WriteOptions& options) {
  if (!path.has_filename()) {
    throw Error(ErrorCode::InvalidInput, "'" + path.string() + "' names no file to write");
  }
  TemporaryFile temporary(path, options.mode);
  temporary.write(content);
  reach(options.faults, kFileWritten, options.rank);
  temporary.rename();
  reach(options.faults, kFileRenamed, options.rank);
  sync_folder(folder_of(path));
}

void write_file_atomically(const fs::path& path, std::string_view content,
                           const WriteOptions& options) {
  write_file_atomically(path, bytes_of(content), options);
}

int sweep_temporary_files(const fs::path& folder) {
  int count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path path = entry->path();
    if (is_temporary_name(path.filename().string()) && sweep_one(path)) ++count;
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw failed("listing", folder, error.value());
  }
  return count;
}

}  // namespace trireme
