#include "trireme/cli/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/rank/program.h"

namespace trireme::cli {
namespace {

using namespace std::chrono_literals;
using cluster::launch::host::SignalQueue;

// Time between SIGTERM to a program that exceeded its deadline and SIGKILL.
constexpr auto kGrace = 10s;
constexpr int kNotStarted = 127;
// Longer lines are not results and are dropped.
constexpr std::size_t kLineMax = std::size_t{1} << 20;

struct Pipe {
  Descriptor in, out;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe", errno);
    in = Descriptor(ends[0]);
    out = Descriptor(ends[1]);
  }
};

[[noreturn]] void become(const std::string& path, const Program& program, pid_t parent, int output,
                         const SignalQueue& signals) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, program.death_signal);
  if (getppid() != parent) _exit(kNotStarted);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  sigprocmask(SIG_SETMASK, &signals.mask_before(), nullptr);
  std::vector<char*> words;
  for (const std::string& word : program.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  std::perror(program.words.front().c_str());
  _exit(kNotStarted);
}

// One running program: reads its output, waits for its exit and forwards signals to it.
class Child {
 public:
  Child(pid_t pid, Descriptor output, SignalQueue& signals)
      : pid_(pid), output_(std::move(output)), signals_(signals) {}

  ~Child() {
    if (!status_) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  // Waits for the end of the output and for the program's exit; returns false if the deadline
  // passes first.
  bool follow(Deadline deadline, const std::function<void(std::string_view)>& on_line) {
    while (output_ || !status_) {
      pollfd waits[] = {{signals_.descriptor(), POLLIN, 0}, {output_.get(), POLLIN, 0}};
      if (poll(waits, output_ ? 2 : 1, deadline.poll_timeout()) == 0) return false;
      while (const auto signal = signals_.next()) {
        if (*signal == SIGCHLD)
          reap();
        else
          hand_on(*signal);
      }
      if (output_ && waits[1].revents != 0) read_lines(on_line);
    }
    return true;
  }

  void tell(int signal) { kill(-pid_, signal); }
  ProgramEnd end() const {
    const int status = status_.value_or(0);
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return {code, is_interrupted_};
  }

 private:
  void hand_on(int signal) {
    is_interrupted_ = true;
    tell(signal);
  }

  void reap() {
    int status = 0;
    if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  }

  void read_lines(const std::function<void(std::string_view)>& on_line) {
    char bytes[4096];
    const ssize_t size = read(output_.get(), bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR) return;
    if (size <= 0) {
      if (!line_.empty()) on_line(line_);
      output_.reset();
      return;
    }
    line_.append(bytes, static_cast<std::size_t>(size));
    std::size_t begin = 0;
    for (std::size_t end; (end = line_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      on_line(std::string_view(line_).substr(begin, end - begin));
    }
    line_.erase(0, begin);
    if (line_.size() > kLineMax) line_.clear();
  }

  pid_t pid_;
  Descriptor output_;
  SignalQueue& signals_;
  std::string line_;
  std::optional<int> status_;
  bool is_interrupted_ = false;
};

}  // namespace

ProgramEnd run_program(const Program& program, Deadline deadline,
                       const std::function<void(std::string_view)>& on_line) {
  const std::string path = cluster::launch::find_program(program.words.front()).string();
  std::fflush(nullptr);
  SignalQueue signals({SIGINT, SIGTERM, SIGHUP});
  Pipe pipe;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw system_error("fork", errno);
  if (pid == 0) become(path, program, parent, pipe.out.get(), signals);
  setpgid(pid, pid);
  pipe.out.reset();
  Child child(pid, std::move(pipe.in), signals);
  if (child.follow(deadline, on_line)) return child.end();
  child.tell(SIGTERM);
  child.follow(Deadline::after(kGrace), on_line);
  throw Error(ErrorCode::Deadline, program.words.front() + " took too long and was ended");
}

std::filesystem::path beside(const std::string& name) {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? path : std::filesystem::path();
}

int become_beside(const std::string& name, const std::vector<std::string>& words) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string program = self.parent_path() / name;
  std::vector<char*> all{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  execv(program.c_str(), all.data());
  if (errno != ENOENT) throw system_error(program, errno);
  throw Error(ErrorCode::NotFound, name + " is not beside " + self.string() +
                                       "; build it with TRIREME_TESTS=ON, and install it there");
}

}  // namespace trireme::cli
