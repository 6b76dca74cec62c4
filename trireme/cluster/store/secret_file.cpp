#include "trireme/cluster/store/secret_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

constexpr const char* kSuffix = ".secret";
constexpr auto kReadPause = std::chrono::milliseconds(2);

std::string path_beside(const std::string& socket) {
  return std::filesystem::path(socket).replace_extension(kSuffix).string();
}

void make_private(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw system_error("cannot make the folder " + folder, errno);
  }
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) throw system_error("cannot stat " + folder, errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 077) != 0) {
    throw Error(ErrorCode::InvalidInput,
                folder +
                    " is not a folder of this user alone (mode 0700): remove it, or set "
                    "XDG_RUNTIME_DIR to one");
  }
}

bool is_held(const Descriptor& file) {
  return ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// Removes the files of a process that was killed while it created a secret or a socket. Only one
// process at a time creates a secret, so an unfinished secret belongs to a dead process; a process
// that creates a socket holds its lock.
void sweep_unfinished(const std::filesystem::path& path) {
  if (path.extension() == ".new") {
    ::unlink(path.c_str());
  } else if (path.extension() == ".lock") {
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

// Removes the secrets whose locks are not held, with their sockets. REQUIRES: the folder's lock is
// held.
void sweep(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    sweep_unfinished(entry.path());
    if (entry.path().extension() != kSuffix) continue;
    const Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file || is_held(file)) continue;
    ::unlink(std::filesystem::path(entry.path()).replace_extension(".sock").c_str());
    ::unlink(entry.path().c_str());
  }
}

// Returns nothing if there is no secret, or no live process holds its lock.
std::optional<net::Secret> read_held(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file || !is_held(file)) return std::nullopt;
  try {
    return net::Secret::from_file(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::NotFound) return std::nullopt;
    throw;
  }
}

}  // namespace

SecretFile::SecretFile(std::string path, Descriptor held, net::Secret secret)
    : path_(std::move(path)), held_(std::move(held)), secret_(std::move(secret)) {}

// The file is complete and locked before it gets its name.
SecretFile SecretFile::make(const std::string& socket, Deadline deadline) {
  const std::string path = path_beside(socket);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  make_private(folder);
  const Descriptor turn(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (::flock(turn.get(), LOCK_EX | LOCK_NB) != 0) {
    if (deadline.is_past()) throw Error(ErrorCode::Deadline, folder + " is locked by another job");
    std::this_thread::sleep_for(kReadPause);
  }
  sweep(folder);
  net::Secret secret = net::Secret::generate();
  const std::string fresh = path + ".new";
  secret.save(fresh);
  Descriptor held(::open(fresh.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!held || ::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
    throw system_error("cannot lock " + fresh, errno);
  }
  if (::link(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    if (error != EEXIST) throw system_error("cannot make " + path, error);
    throw Error(ErrorCode::InvalidInput, path +
                                             " is locked by another job with this name; set "
                                             "TRIREME_JOB to a different name");
  }
  ::unlink(fresh.c_str());
  return SecretFile(path, std::move(held), std::move(secret));
}

net::Secret SecretFile::find(const std::string& socket, Deadline deadline) {
  const std::string path = path_beside(socket);
  for (;;) {
    if (std::optional<net::Secret> secret = read_held(path)) return *std::move(secret);
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline,
                  "the rank that serves the store did not start: no rank created " + path);
    }
    std::this_thread::sleep_for(kReadPause);
  }
}

SecretFile::~SecretFile() {
  if (held_) ::unlink(path_.c_str());
}

}  // namespace trireme::cluster
