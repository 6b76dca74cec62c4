#include "trireme/cluster/launch/watch/front.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/room.h"
#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/root.h"
#include "trireme/cluster/launch/launcher.h"
#include "trireme/cluster/launch/watch/run_or_sweep.h"
#include "trireme/cluster/launch/watch/warden.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

// If a standard descriptor was closed, a new descriptor could get its number and be mistaken for
// it.
void open_standard_descriptors() {
  for (int file; (file = open("/dev/null", O_RDWR)) >= 0;) {
    if (file > STDERR_FILENO) {
      close(file);
      return;
    }
  }
}

void make_output_folder(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw Error(ErrorCode::InvalidInput, "--output " + folder.string() + ": " + error.message());
}

[[noreturn]] void become_launcher(const LauncherOptions& options, const Watched& watched) {
  // With its own process group, the launcher receives a terminal's Ctrl-C once, forwarded by the
  // front. Writing to the terminal from the background would stop the process where `stty tostop`
  // is set.
  setpgid(0, 0);
  signal(SIGTTOU, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  host::become_subreaper();
  _exit(watched(options));
}

class Front {
 public:
  Front(const JobSpec& spec, const job::Folder& folder, host::SignalQueue& signals,
        const Watched& watched)
      : spec_(spec), folder_(folder), signals_(signals), watched_(watched) {}

  // Starts the launcher, or a replacement. Throws Io.
  void launch(bool is_successor) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      throw system_error("socketpair", errno);
    }
    socket_ = Descriptor(ends[0]);
    Descriptor theirs(ends[1]);
    // Before the launcher runs, so that it knows from the start which processes are dead.
    for (const FrontMessage& message : ended_) tell(message);
    status_.reset();
    const pid_t front = getpid();
    launcher_ = fork();
    if (launcher_ < 0) throw system_error("fork", errno);
    if (launcher_ > 0) return;
    socket_.reset();
    // Processes that outlive an elastic job's launcher belong to the next launcher, so they must be
    // reparented to the front.
    if (!spec_.elastic) become_warden(folder_, theirs);
    become_launcher({.spec = &spec_,
                     .folder = &folder_,
                     .signals = &signals_,
                     .front = theirs.get(),
                     .front_pid = front,
                     .is_successor = is_successor},
                    watched_);
  }

  // Returns the launcher's wait status.
  int watch() {
    while (true) {
      pollfd wait{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0};
      poll(&wait, 1, -1);
      while (const auto signal = signals_.next()) {
        if (*signal != SIGCHLD) forward(*signal);
      }
      host::reap_known_children([this](const auto& who, int status) { on_reaped(who, status); });
      if (status_) return *status_;
    }
  }

  // Whether the warden has ended every process of a killed launcher and has reported it.
  bool has_warden_reported() const {
    char report = 0;
    return !spec_.elastic && recv(socket_.get(), &report, 1, MSG_DONTWAIT) == 1;
  }

  // Whether the job continues without this launcher, and a replacement may be started.
  bool can_relaunch() {
    if (!spec_.elastic || is_ending_) return false;
    const TimePoint now = steady_clock().now();
    while (!launches_.empty() && now - launches_.front() > kLaunchWindow) launches_.pop_front();
    if (launches_.size() >= kLaunchersMax) return false;
    launches_.push_back(now);
    return true;
  }

 private:
  void on_reaped(const host::Process& who, int status) {
    if (who.pid == launcher_) {
      status_ = status;
      return;
    }
    const FrontMessage message{.signal = 0, .pid = who.pid, .start = who.start, .status = status};
    if (ended_.size() >= kEndedMax) ended_.pop_front();
    ended_.push_back(message);
    tell(message);
  }

  void tell(const FrontMessage& message) {
    send(socket_.get(), &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void forward(int signal) {
    const bool is_passing = signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT;
    is_ending_ |= !is_passing && signal != SIGTSTP;
    tell({.signal = signal});
    // Ctrl-Z: the ranks stop, then the front does, so that the shell shows its prompt again.
    if (signal == SIGTSTP) raise(SIGSTOP);
  }

  static constexpr std::size_t kEndedMax = 256;
  static constexpr Duration kLaunchWindow = 10min;

  const JobSpec& spec_;
  const job::Folder& folder_;
  host::SignalQueue& signals_;
  const Watched& watched_;
  pid_t launcher_ = -1;  // or the warden
  Descriptor socket_;
  std::optional<int> status_;
  // Ends of processes whose launcher died. The next launcher must learn of a process that ends
  // while there is no launcher.
  std::deque<FrontMessage> ended_;
  std::deque<TimePoint> launches_;
  bool is_ending_ = false;
};

}  // namespace

int run_job(const JobSpec& spec) {
  open_standard_descriptors();
  if (!spec.hosts) {
    const std::string mistake = host::mistake_in_size(
        host::Room::measure(),
        {.ranks = spec.ranks, .memory_each = spec.memory_each, .threads_each = spec.threads_each});
    if (!mistake.empty()) throw Error(ErrorCode::InvalidInput, mistake);
  }
  // Only now, after every error in the command line has been reported.
  make_output_folder(spec.output);
  // Before there is anything to clean up.
  host::SignalQueue signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT});
  const job::Folder folder = job::Folder::create(job::own_root(), spec.name);
  return run_watched(spec, folder, signals, run_launcher);
}

int run_watched(const JobSpec& spec, const job::Folder& folder, host::SignalQueue& signals,
                const Watched& watched) {
  host::become_subreaper();
  Front front(spec, folder, signals, watched);
  for (bool is_successor = false;; is_successor = true) {
    try {
      front.launch(is_successor);
    } catch (const Error&) {
      folder.remove();
      if (is_successor) host::kill_descendants(Deadline::after(host::kKillTime), [](pid_t, int) {});
      throw;
    }
    const int status = front.watch();
    if (!WIFSIGNALED(status)) {
      // Workers that a replacement launcher took over are children of this process, and so are
      // their child processes.
      if (spec.elastic) host::kill_descendants(Deadline::after(host::kKillTime), [](pid_t, int) {});
      return WEXITSTATUS(status);
    }
    const bool is_reported = front.has_warden_reported();
    if (is_reported || !front.can_relaunch()) {
      const char* victim = spec.elastic ? "the launcher" : "the launcher's warden";
      sweep_after(is_reported ? "" : victim, WTERMSIG(status), folder);
      return 128 + WTERMSIG(status);
    }
    say("the launcher was killed by signal " + std::to_string(WTERMSIG(status)) +
        "; the workers continue, and another launcher takes over");
  }
}

}  // namespace trireme::cluster::launch
