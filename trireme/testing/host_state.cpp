#include "trireme/testing/host_state.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "trireme/base/entropy.h"
#include "trireme/cluster/launch/host/process_tree.h"

namespace trireme::testing {
namespace {

namespace fs = std::filesystem;
namespace host = cluster::launch::host;

constexpr std::chrono::seconds kEndTime{10};

bool isolate_shm() {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") == 0;
}

std::string file_of(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // empty if the process exits meanwhile
  return text.str();
}

bool carries(pid_t pid, const std::string& mark) {
  const std::string environment = std::string(1, '\0') + file_of(pid, "environ");
  return environment.find(std::string(1, '\0') + mark + '\0') != std::string::npos;
}

std::string command_of(pid_t pid) {
  std::string text = file_of(pid, "cmdline");
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace

HostState::HostState() : runtime_("host-state"), has_private_shm_(isolate_shm()) {
  host::become_subreaper();
  const std::string value = secure_random_hex(8);
  mark_ = "TRIREME_TEST_MARK=" + value;
  setenv("TRIREME_TEST_MARK", value.c_str(), 1);
  setenv("XDG_RUNTIME_DIR", runtime_.path().c_str(), 1);
}

HostState::~HostState() {
  end_processes();
  if (!has_private_shm_) return;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev/shm", ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
}

// Repeats until no process is left: a process that is killed may just have started another. Then
// waits for the zombies, whose process numbers are in use until they are reaped.
void HostState::end_processes() const {
  const Deadline deadline = Deadline::after(kEndTime);
  for (auto left = processes(); !left.empty() && !deadline.is_past(); left = processes()) {
    for (const pid_t pid : left) kill(pid, SIGKILL);
    poll(nullptr, 0, 2);
  }
  host::kill_descendants(deadline, [](pid_t, int) {});
}

std::vector<pid_t> HostState::processes() const {
  std::vector<pid_t> found;
  const auto all = host::list_processes();
  const auto below = host::descendants_of(getpid(), all);
  for (const host::Process& process : all) {
    const bool is_below = std::any_of(below.begin(), below.end(), [&](const host::Process& other) {
      return other.pid == process.pid;
    });
    const bool is_ours = process.pid != getpid() && (is_below || carries(process.pid, mark_));
    if (is_ours && !process.is_zombie) found.push_back(process.pid);
  }
  return found;
}

std::vector<std::string> HostState::leftovers(Deadline deadline) const {
  std::vector<std::string> left;
  while (true) {
    left.clear();
    for (const pid_t pid : processes()) {
      left.push_back("process " + std::to_string(pid) + ": " + command_of(pid));
    }
    if (has_private_shm_) {
      for (const auto& entry : fs::directory_iterator("/dev/shm")) left.push_back(entry.path());
    }
    // A folder may be removed while it is read; the error then counts as "something is left", and
    // the loop looks again.
    std::error_code error;
    for (fs::recursive_directory_iterator entry(runtime_.path(), error), end;
         !error && entry != end; entry.increment(error)) {
      const fs::path path = entry->path().lexically_relative(runtime_.path());
      if (path != "trireme" && path != "trireme/.lock") left.push_back(entry->path());
    }
    if (error) left.push_back(runtime_.path().string() + ": " + error.message());
    if (left.empty() || deadline.is_past()) return left;
    poll(nullptr, 0, 10);
  }
}

}  // namespace trireme::testing
