#include "trireme/cluster/launch/host/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::host {
namespace {

// Kernel flags of a process (linux/sched.h): it exits, dumps core, or was killed by a signal.
constexpr unsigned kDyingFlags = 0x4 | 0x200 | 0x400;

std::optional<Process> read_process(const char* pid) {
  const std::string path = std::string("/proc/") + pid + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char text[1024];
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  if (size <= 0) return std::nullopt;
  text[size] = '\0';
  // The name may contain blanks and parentheses; the fields after the last parenthesis are regular.
  const char* rest = std::strrchr(text, ')');
  char state = 0;
  unsigned flags = 0;
  int threads = 0;
  Process process{.pid = std::atoi(pid)};
  // Fields 3 (state), 4 (parent), 9 (flags), 20 (threads) and 22 (start).
  const int found =
      rest == nullptr
          ? 0
          : std::sscanf(rest + 1,
                        " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d "
                        "%*d %llu",
                        &state, &process.parent, &flags, &threads, &process.start);
  if (found != 5) return std::nullopt;
  // The state is that of the first thread, which may have ended before the others.
  process.is_zombie = (state == 'Z' || state == 'X') && threads <= 1;
  process.is_dying = process.is_zombie || (flags & kDyingFlags) != 0;
  return process;
}

}  // namespace

void kill_process(const Process& process) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  if (handle < 0) {
    if (errno == ENOSYS || errno == EMFILE || errno == ENFILE) kill(process.pid, SIGKILL);
    return;
  }
  const auto now = find_process(process.pid);
  if (now && now->start == process.start) {
    syscall(SYS_pidfd_send_signal, handle, SIGKILL, nullptr, 0);
  }
  close(handle);
}

std::optional<Process> find_process(pid_t pid) {
  return read_process(std::to_string(pid).c_str());
}

std::vector<Process> list_processes() {
  std::vector<Process> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return processes;
  while (const dirent* entry = readdir(folder.get())) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (const auto process = read_process(entry->d_name)) processes.push_back(*process);
  }
  return processes;
}

std::vector<Process> descendants_of(pid_t root, const std::vector<Process>& all) {
  std::unordered_set<pid_t> family{root};
  std::vector<Process> found;
  // A child may be listed before its parent, so repeat until a pass finds no new process.
  for (std::size_t before = 0; before != family.size();) {
    before = family.size();
    for (const Process& process : all) {
      if (family.contains(process.parent) && family.insert(process.pid).second) {
        found.push_back(process);
      }
    }
  }
  return found;
}

void become_subreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    throw system_error("prctl(PR_SET_CHILD_SUBREAPER)", errno);
  }
}

void reap_children(const Reaped& reaped) {
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) reaped(pid, status);
}

void reap_known_children(const std::function<void(const Process&, int)>& reaped) {
  while (true) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    const pid_t pid = info.si_pid;
    const Process process = find_process(pid).value_or(Process{.pid = pid});
    int status = 0;
    if (waitpid(pid, &status, 0) == pid) reaped(process, status);
  }
}

void kill_group(pid_t root, pid_t leader) {
  for (const Process& process : descendants_of(root, list_processes())) {
    if (process.pid != leader && getpgid(process.pid) == leader) kill_process(process);
  }
}

std::size_t kill_descendants(Deadline deadline, const Reaped& reaped) {
  constexpr int kPauseLongest = 20;  // milliseconds
  for (int pause = 1;; pause = std::min(2 * pause, kPauseLongest)) {
    reap_children(reaped);
    std::size_t alive = 0;
    bool is_any = false;
    for (const Process& process : descendants_of(getpid(), list_processes())) {
      is_any = true;
      if (process.is_zombie) continue;
      ++alive;
      kill_process(process);
    }
    // A zombie whose own parent just died will be reparented to this process for reaping.
    if (!is_any) return 0;
    if (deadline.is_past()) return alive;
    poll(nullptr, 0, pause);
  }
}

}  // namespace trireme::cluster::launch::host
