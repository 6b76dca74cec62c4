#include "trireme/base/file/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "trireme/base/check.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"

namespace trireme {
namespace fs = std::filesystem;
namespace {

std::string prefix_of(std::string_view label) {
  return "trireme-" + std::string(label) + "-";
}

constexpr std::size_t kRandomSize = 8;  // bytes; the name has two hexadecimal digits for each

fs::path default_parent() {
  const char* wanted = std::getenv("TMPDIR");
  return wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
}

// Opens and locks the folder; empty if it is locked, belongs to another user or no longer exists.
Descriptor lock_folder(const fs::path& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat ours{};
  struct stat named{};
  if (!descriptor || ::fstat(descriptor.get(), &ours) != 0 || ours.st_uid != ::geteuid()) return {};
  if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) return {};
  // Another process may have removed the folder between opening and locking.
  if (::lstat(path.c_str(), &named) != 0 || named.st_ino != ours.st_ino) return {};
  return descriptor;
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string_view label, fs::path parent) {
  TRIREME_CHECK(!label.empty() && label.find('/') == std::string_view::npos, "'", label,
                "' is no label for a folder");
  if (parent.empty()) parent = default_parent();
  sweep_temporary_folders(label, parent);
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const fs::path path = parent / (prefix_of(label) + secure_random_hex(kRandomSize));
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      throw system_error("making a temporary folder in " + parent.string(), errno);
    }
    lock_ = lock_folder(path);
    if (lock_) {
      path_ = path;
      return;
    }
    ::rmdir(path.c_str());
  }
  throw Error(ErrorCode::Io, "no temporary folder in " + parent.string() +
                                 " could be locked; does its file system support flock(2)?");
}

TemporaryFolder::~TemporaryFolder() {
  remove();
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::move(other.path_);
    lock_ = std::move(other.lock_);
  }
  return *this;
}

void TemporaryFolder::remove() noexcept {
  if (!lock_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  lock_.reset();
}

int sweep_temporary_folders(std::string_view label, const fs::path& parent) {
  const std::string prefix = prefix_of(label);
  int count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool is_ours = name.starts_with(prefix) &&
                         name.size() == prefix.size() + 2 * kRandomSize &&
                         name.find_first_not_of("0123456789abcdef", prefix.size()) == name.npos;
    if (!is_ours) continue;
    if (const Descriptor lock = lock_folder(entry->path())) {
      std::error_code ignored;
      fs::remove_all(entry->path(), ignored);
      if (!ignored) ++count;
    }
  }
  return count;
}

}  // namespace trireme
