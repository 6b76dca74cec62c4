#include "trireme/cluster/launch/rank/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/processors.h"

namespace trireme::cluster::launch {
namespace {

constexpr int kExitNotRunnable = 126;
constexpr int kExitNotFound = 127;

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// After a process with threads forks, only system calls are safe in the child: nothing here
// allocates memory.
class Child {
 public:
  Child(const SpawnOptions& options, pid_t parent, char* const* arguments, char* const* environment)
      : options_(options), parent_(parent), arguments_(arguments), environment_(environment) {}

  [[noreturn]] void run() const {
    need(setpgid(0, 0), "setpgid");
    if (options_.dies_with_us) {
      need(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "prctl");
      // If the parent died before the prctl call, no death signal will arrive.
      if (getppid() != parent_) _exit(kExitNotRunnable);
    }
    connect_streams();
    if (!options_.processors.empty()) {
      // A processor may have gone offline meanwhile; running on another one is better than not
      // running.
      host::bind_to(options_.processors.data(), static_cast<int>(options_.processors.size()));
    }
    if (options_.files_max) setrlimit(RLIMIT_NOFILE, &*options_.files_max);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTTOU, SIG_DFL);
    need(sigprocmask(SIG_SETMASK, &options_.mask, nullptr), "sigprocmask");
    execve(options_.program.c_str(), arguments_, environment_);
    fail("execve");
  }

 private:
  void connect_streams() const {
    const int input = options_.input >= 0 ? options_.input : open("/dev/null", O_RDONLY);
    need(input, "open /dev/null");
    // dup2 onto itself would keep close-on-exec; input may be 0 already, which does not have it.
    if (input != STDIN_FILENO) need(dup2(input, STDIN_FILENO), "dup2");
    need(dup2(options_.output, STDOUT_FILENO), "dup2");
    need(dup2(options_.error, STDERR_FILENO), "dup2");
    if (options_.input < 0) close(input);
  }

  void need(int result, const char* step) const {
    if (result < 0) fail(step);
  }

  [[noreturn]] void fail(const char* step) const {
    SpawnTrouble trouble{.rank = options_.rank, .error = errno, .step = {}};
    std::strncpy(trouble.step, step, sizeof(trouble.step) - 1);
    [[maybe_unused]] const ssize_t size = write(options_.trouble, &trouble, sizeof(trouble));
    _exit(trouble.error == ENOENT ? kExitNotFound : kExitNotRunnable);
  }

  const SpawnOptions& options_;
  pid_t parent_;
  char* const* arguments_;
  char* const* environment_;
};

}  // namespace

pid_t spawn(const SpawnOptions& options) {
  const std::vector<char*> arguments = pointers_to(options.arguments);
  const std::vector<char*> environment = pointers_to(options.environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw system_error("fork", errno);
  if (pid == 0) Child(options, parent, arguments.data(), environment.data()).run();
  // Both processes call setpgid, so that the group exists before it is signalled.
  setpgid(pid, pid);
  return pid;
}

std::string describe(const SpawnTrouble& trouble) {
  std::string text = "could not be started: ";
  text.append(trouble.step).append(": ").append(std::strerror(trouble.error));
  if (trouble.error == ENOEXEC) text += " (a script needs #! in its first line)";
  if (trouble.error == ENOENT) text += " (does the interpreter in its #! line exist?)";
  return text;
}

}  // namespace trireme::cluster::launch
