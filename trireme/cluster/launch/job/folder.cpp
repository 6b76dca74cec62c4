#include "trireme/cluster/launch/job/folder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/job/name.h"
#include "trireme/cluster/launch/job/root.h"

namespace trireme::cluster::launch::job {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockFile = "lock";
constexpr const char* kDeadPrefix = ".dead-";
// For all folders together; shorter than the time that a process waits for the root's lock.
constexpr auto kStrayTime = std::chrono::seconds(3);

bool has_coordinator(const fs::path& folder) {
  const Descriptor file(open((folder / kCoordinatorFile).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  return file && is_locked(file);
}

Descriptor open_lock(const fs::path& folder, int flags) {
  return Descriptor(
      open((folder / kLockFile).c_str(), flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
}

// A lock of the open file, like that of flock(2), that a forked process shares. Unlike flock's, it
// can be tested without being taken, so that a process that only looks does not interfere.
struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::vector<fs::path> folders_in(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory(error) && !entry->is_symlink(error)) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool is_dead_name(const fs::path& folder) {
  return folder.filename().string().starts_with(kDeadPrefix);
}

// The process that removes the folder and a sweep may run at the same time; a file that the other
// one has removed appears as an error.
bool remove_remnant(const fs::path& dead) {
  constexpr int kAttemptsMax = 100;
  std::error_code error;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    fs::remove_all(dead, error);
    if (!fs::exists(dead, error)) return true;
  }
  return false;
}

// Renames the folder first, to a name that no job can have: if the removal fails or is interrupted,
// the job's name is free nevertheless, and the next sweep removes the rest.
bool remove_folder(const fs::path& folder) noexcept {
  try {
    std::error_code error;
    const fs::path dead = folder.parent_path() / (kDeadPrefix + secure_random_hex(8));
    fs::rename(folder, dead, error);
    return !error && remove_remnant(dead);
  } catch (const std::exception&) {
    return false;  // the next sweep tries again
  }
}

bool is_same_file(const Descriptor& one, const Descriptor& other) {
  struct stat first{};
  struct stat second{};
  return fstat(one.get(), &first) == 0 && fstat(other.get(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Whether the process was started in the job of this folder, according to its environment.
bool is_of(const fs::path& folder, const host::Process& process) {
  const std::string control = "TRIREME_STORE=unix:" + (folder / "control.sock").string();
  const std::string store = "TRIREME_STORE=unix:" + (folder / "store.sock").string();
  const std::string self = "TRIREME_JOB_FOLDER=" + folder.string();
  std::ifstream file("/proc/" + std::to_string(process.pid) + "/environ", std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');) {
    if (variable == control || variable == store || variable == self) return true;
  }
  return false;
}

// REQUIRES: the root's lock is held.
int sweep_locked(const fs::path& root) {
  int count = 0;
  const Deadline strays = Deadline::after(kStrayTime);
  for (const fs::path& folder : folders_in(root)) {
    std::error_code error;
    if (is_dead_name(folder)) {
      if (remove_remnant(folder)) ++count;
      continue;
    }
    const Descriptor lock = open_lock(folder, 0);
    if (!lock) {
      // The process that created it died before it made the lock, and the folder is empty; or a
      // user deleted files in a live job's folder, which this function must not touch.
      fs::remove(folder, error);
      continue;
    }
    if (has_coordinator(folder) || !try_lock(lock)) continue;
    // If a process cannot be killed now, the folder is kept for the next sweep.
    if (!kill_strays(folder, strays)) continue;
    if (remove_folder(folder)) ++count;
  }
  return count;
}

void write_secret(const fs::path& path) {
  const std::string secret = secure_random_hex(32) + "\n";
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || write(file.get(), secret.data(), secret.size()) != std::ssize(secret)) {
    throw system_error("cannot write " + path.string(), errno);
  }
}

std::string make_folder(const fs::path& root, std::string_view wanted) {
  constexpr int kAttemptsMax = 100;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const std::string name = wanted.empty() ? make_name(attempt) : std::string(wanted);
    if (mkdir((root / name).c_str(), 0700) == 0) return name;
    if (errno != EEXIST) throw system_error("cannot make " + (root / name).string(), errno);
    if (!wanted.empty()) break;
  }
  throw Error(ErrorCode::InvalidInput,
              "a job named '" + std::string(wanted) + "' is already running (see `trireme jobs`)");
}

}  // namespace

bool try_lock(const Descriptor& file) {
  struct flock lock = whole_file();
  return fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
}

bool is_locked(const Descriptor& file) {
  struct flock lock = whole_file();
  return fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Folder::Folder(fs::path path, std::string name, Descriptor lock)
    : path_(std::move(path)), name_(std::move(name)), lock_(std::move(lock)) {}

Folder Folder::create(const fs::path& root, std::string_view name) {
  if (!name.empty()) {
    const std::string mistake = mistake_in_name(name);
    if (!mistake.empty()) throw Error(ErrorCode::InvalidInput, mistake);
  }
  const Descriptor root_lock = lock_root(root);
  sweep_locked(root);
  const std::string made = make_folder(root, name);
  const fs::path path = root / made;
  try {
    Descriptor lock = open_lock(path, O_CREAT | O_EXCL);
    if (!lock || !try_lock(lock)) {
      throw system_error("cannot lock " + path.string(), errno);
    }
    write_secret(path / "secret");
    return Folder(path, made, std::move(lock));
  } catch (...) {
    remove_folder(path);
    throw;
  }
}

void Folder::remove() const noexcept {
  // Another process that watched the job may have removed the folder, and another job may have the
  // name.
  const Descriptor lock = open_lock(path_, 0);
  if (lock && !is_same_file(lock, lock_)) return;
  remove_folder(path_);
}

bool is_watched(const fs::path& folder) {
  const Descriptor lock = open_lock(folder, 0);
  return lock && is_locked(lock);
}

bool is_alive(const fs::path& folder) {
  return is_watched(folder) || has_coordinator(folder);
}

bool kill_strays(const fs::path& folder, Deadline deadline) {
  constexpr int kPauseLongest = 20;  // milliseconds
  // A live process may start others meanwhile, and a process that executes a program has no
  // environment for a moment: two successive passes have to find no process.
  int looks = 0;
  for (int pause = 1;; pause = std::min(2 * pause, kPauseLongest)) {
    ++looks;
    for (const host::Process& process : host::list_processes()) {
      if (process.is_zombie || process.pid == getpid() || !is_of(folder, process)) continue;
      looks = 0;
      host::kill_process(process);
    }
    if (looks == 2) return true;
    if (deadline.is_past()) return false;
    poll(nullptr, 0, pause);
  }
}

std::vector<fs::path> living(const fs::path& root) {
  std::vector<fs::path> folders = folders_in(root);
  std::erase_if(folders,
                [](const fs::path& folder) { return is_dead_name(folder) || !is_alive(folder); });
  return folders;
}

int sweep(const fs::path& root) {
  const Descriptor lock = lock_root(root);
  return sweep_locked(root);
}

void sweep_quietly(const fs::path& root) noexcept {
  try {
    sweep(root);
  } catch (const std::exception&) {
    // The start of the next job sweeps again.
  }
}

}  // namespace trireme::cluster::launch::job
