#include "trireme/cluster/launch/job/root.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "trireme/base/deadline.h"
#include "trireme/base/error.h"

namespace trireme::cluster::launch::job {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto kLockTime = 5s;

fs::path fallback_root() {
  return fs::path("/tmp") / ("trireme-" + std::to_string(geteuid()));
}

// Under sudo the variable may still contain the calling user's folder, which must not be used.
bool is_own_folder(const fs::path& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

std::optional<fs::path> runtime_root() {
  const char* text = std::getenv("XDG_RUNTIME_DIR");
  if (text == nullptr) return std::nullopt;
  const fs::path folder(text);
  if (!folder.is_absolute() || !is_own_folder(folder)) return std::nullopt;
  return folder / "trireme";
}

// Empty if the folder belongs to this user alone, else what is wrong with it.
std::string danger_of(const fs::path& root) {
  const Descriptor folder(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return errno == ELOOP || errno == ENOTDIR ? "is no folder" : "cannot be opened";
  struct stat status{};
  if (fstat(folder.get(), &status) != 0) return "cannot be examined";
  if (status.st_uid != geteuid()) return "belongs to user " + std::to_string(status.st_uid);
  if ((status.st_mode & 077) != 0) return "is open to other users";
  return {};
}

}  // namespace

void make_safe(const fs::path& root) {
  if (mkdir(root.c_str(), 0700) != 0 && errno != EEXIST) {
    throw system_error("cannot make the folder for jobs " + root.string(), errno);
  }
  const std::string danger = danger_of(root);
  if (!danger.empty()) {
    throw Error(ErrorCode::InvalidInput,
                root.string() + " " + danger + ", so a job's secret would not be safe in it. " +
                    "Remove it, or set XDG_RUNTIME_DIR to a folder of yours with mode 0700.");
  }
}

fs::path own_root() {
  const fs::path root = runtime_root().value_or(fallback_root());
  make_safe(root);
  return root;
}

std::vector<fs::path> known_roots() {
  std::vector<fs::path> candidates;
  if (const auto root = runtime_root()) candidates.push_back(*root);
  candidates.push_back(fallback_root());
  candidates.push_back(fs::path("/run/user") / std::to_string(geteuid()) / "trireme");
  std::vector<fs::path> roots;
  for (const fs::path& root : candidates) {
    const bool is_new = std::find(roots.begin(), roots.end(), root) == roots.end();
    if (is_new && danger_of(root).empty()) roots.push_back(root);
  }
  return roots;
}

Descriptor lock_root(const fs::path& root) {
  const fs::path path = root / ".lock";
  Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) throw system_error("cannot open " + path.string(), errno);
  const Deadline deadline = Deadline::after(kLockTime);
  while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) throw system_error("flock", errno);
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline, "another trireme holds " + path.string() + " for 5 s now");
    }
    poll(nullptr, 0, 1);
  }
  return lock;
}

}  // namespace trireme::cluster::launch::job
