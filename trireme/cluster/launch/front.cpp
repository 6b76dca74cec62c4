#include "trireme/cluster/launch/front.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>

#include "trireme/base/descriptor.h"
#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/root.h"
#include "trireme/cluster/launch/launcher.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kKillTime = 10s;

// A descriptor of ours must never be mistaken for standard output that somebody had closed.
void open_standard_descriptors() {
  for (int file; (file = open("/dev/null", O_RDWR)) >= 0;) {
    if (file > STDERR_FILENO) {
      close(file);
      return;
    }
  }
}

void say(const std::string& text) {
  const std::string line = "trireme: " + text + "\n";
  [[maybe_unused]] const ssize_t size = write(STDERR_FILENO, line.data(), line.size());
}

void make_output_folder(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw Error(ErrorCode::InvalidInput, "--output " + folder.string() + ": " + error.message());
}

[[noreturn]] void become_launcher(const LauncherOptions& options) {
  // A terminal's Ctrl-C then comes to the front alone, and from there to us, once. Writing to
  // the terminal from the background would stop us where `stty tostop` is set.
  setpgid(0, 0);
  signal(SIGTTOU, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  host::become_subreaper();
  _exit(run_launcher(options));
}

class Front {
 public:
  Front(pid_t launcher, Descriptor socket, host::SignalQueue& signals)
      : launcher_(launcher), socket_(std::move(socket)), signals_(signals) {}

  // Returns the launcher's wait status.
  int watch() {
    while (true) {
      pollfd wait{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0};
      poll(&wait, 1, -1);
      while (const auto signal = signals_.next()) {
        if (*signal != SIGCHLD) forward(*signal);
      }
      host::reap_children([this](pid_t pid, int status) {
        if (pid == launcher_) status_ = status;
      });
      if (status_) return *status_;
    }
  }

 private:
  void forward(int signal) {
    const char byte = static_cast<char>(signal);
    send(socket_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    // Ctrl-Z: the ranks stop, then we do, so that the shell has its prompt back.
    if (signal == SIGTSTP) raise(SIGSTOP);
  }

  pid_t launcher_;
  Descriptor socket_;
  host::SignalQueue& signals_;
  std::optional<int> status_;
};

int clean_up_after(int status, const job::Folder& folder) {
  const std::size_t left = host::kill_descendants(Deadline::after(kKillTime), [](pid_t, int) {});
  folder.remove();
  job::sweep_quietly(folder.path().parent_path());
  const int signal = WTERMSIG(status);
  say("the launcher was killed by signal " + std::to_string(signal) +
      (left == 0 ? "; every process of the job was ended" : "; some processes could not be ended"));
  return 128 + signal;
}

}  // namespace

int run_job(const JobSpec& spec) {
  open_standard_descriptors();
  // Only now, when every mistake in the command line would have been found.
  make_output_folder(spec.output);
  // Before there is anything to leave behind.
  host::SignalQueue signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT});
  const job::Folder folder = job::Folder::create(job::own_root(), spec.name);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    const int error = errno;
    folder.remove();
    throw system_error("socketpair", error);
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  host::become_subreaper();
  const pid_t front = getpid();
  const pid_t launcher = fork();
  if (launcher < 0) {
    const int error = errno;
    folder.remove();
    throw system_error("fork", error);
  }
  if (launcher == 0) {
    ours.reset();
    become_launcher({.spec = &spec,
                     .folder = &folder,
                     .signals = &signals,
                     .front = theirs.get(),
                     .front_pid = front});
  }
  theirs.reset();
  const int status = Front(launcher, std::move(ours), signals).watch();
  if (WIFSIGNALED(status)) return clean_up_after(status, folder);
  return WEXITSTATUS(status);
}

}  // namespace trireme::cluster::launch
