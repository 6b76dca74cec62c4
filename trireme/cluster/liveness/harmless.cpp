#include "trireme/cluster/liveness/harmless.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "trireme/base/file/descriptor.h"

namespace trireme::cluster {
namespace {

// From the kernel's sched.h; it is in the ninth field of the line.
constexpr unsigned long kExiting = 0x4;

// A thread that no longer exists has ended.
bool has_thread_ended(int folder, const std::string& thread) {
  const std::string path = thread + "/stat";
  const Descriptor file(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno == ENOENT || errno == ESRCH;
  char text[512];
  const ssize_t size = ::read(file.get(), text, sizeof(text));
  if (size < 0) return errno == ESRCH;
  return has_ended({text, static_cast<std::size_t>(size)});
}

}  // namespace

bool has_ended(std::string_view stat) noexcept {
  // A thread's name may contain parentheses and blanks; the fields after the last parenthesis are
  // numbers.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return false;
  std::string_view rest = stat.substr(name_end + 2);
  if (rest[0] == 'Z' || rest[0] == 'X') return true;
  for (int field = 3; field < 9; ++field) {
    const std::size_t blank = rest.find(' ');
    if (blank == std::string_view::npos) return false;
    rest.remove_prefix(blank + 1);
  }
  unsigned long flags = 0;
  for (const char digit : rest) {
    if (digit < '0' || digit > '9') break;
    flags = flags * 10 + static_cast<unsigned long>(digit - '0');
  }
  return (flags & kExiting) != 0;
}

bool is_harmless(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  // A missing process means something only if /proc is mounted.
  if (!folder) return errno == ENOENT && ::access("/proc/self/task", F_OK) == 0;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    if (!has_thread_ended(::dirfd(folder.get()), entry->d_name)) return false;
    errno = 0;
  }
  return errno == 0 || errno == ENOENT || errno == ESRCH;
}

}  // namespace trireme::cluster
