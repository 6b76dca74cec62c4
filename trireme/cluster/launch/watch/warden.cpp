#include "trireme/cluster/launch/watch/warden.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/watch/run_or_sweep.h"

namespace trireme::cluster::launch {
namespace {

// Overwrites the memory that `ps` and `pkill -f` show: arg_start and arg_end of proc(5).
void rename_command_line() {
  std::ostringstream text;
  text << std::ifstream("/proc/self/stat").rdbuf();
  const std::string all = text.str();
  std::istringstream fields(all.substr(std::min(all.size(), all.rfind(')') + 1)));
  constexpr int kBefore = 45;  // from field 3, the first after the name, to 47
  std::string skipped;
  for (int i = 0; i < kBefore; ++i) fields >> skipped;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  if (!(fields >> begin >> end) || begin == 0 || begin >= end) return;
  char* const words = reinterpret_cast<char*>(begin);
  std::memset(words, 0, end - begin);
  const std::string_view name = kWardenName;
  std::memcpy(words, name.data(), std::min<std::size_t>(name.size(), end - begin - 1));
}

int wait_for(pid_t launcher) {
  int status = 0;
  pid_t pid = 0;
  do {
    pid = waitpid(-1, &status, 0);
  } while (pid != launcher && (pid >= 0 || errno == EINTR));
  return status;
}

[[noreturn]] void die_by(int signal) {
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

}  // namespace

void become_warden(const job::Folder& folder, Descriptor& socket) {
  setpgid(0, 0);
  host::become_subreaper();
  const pid_t launcher = fork();
  if (launcher < 0) throw system_error("fork", errno);
  if (launcher == 0) return;
  prctl(PR_SET_NAME, kWardenName, 0, 0, 0);
  rename_command_line();
  signal(SIGTTOU, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  const int status = wait_for(launcher);
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  sweep_after("the launcher", WTERMSIG(status), folder);
  send(socket.get(), "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  die_by(WTERMSIG(status));
}

}  // namespace trireme::cluster::launch
