#include "trireme/testing/command_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "trireme/base/error.h"

namespace trireme::testing {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe", errno);
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  Descriptor out, in;
};

[[noreturn]] void become(const CommandProcess::Options& options) {
  for (const auto& [name, value] : options.environment) {
    if (value.empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  // Ignored and blocked signals are inherited, for example from nohup or a shell's background job;
  // reset them.
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> words;
  for (const std::string& word : options.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

int occurrences(std::string_view text, std::string_view word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    ++count;
  }
  return count;
}

// Returns false at the end of the output.
bool read_into(Descriptor& file, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  // Reading from a terminal whose last process has exited returns EIO.
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) file.reset();
  return static_cast<bool>(file);
}

}  // namespace

CommandProcess::CommandProcess(const Options& options)
    : is_read_(options.is_read), begin_(std::chrono::steady_clock::now()) {
  if (options.is_terminal) {
    start_at_terminal(options);
  } else {
    start_with_pipes(options);
  }
}

void CommandProcess::start_at_terminal(const Options& options) {
  winsize size{.ws_row = 40, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  pid_ = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid_ < 0) throw Error(ErrorCode::Unsupported, "this machine has no pseudo-terminals");
  if (pid_ == 0) become(options);
  fcntl(terminal, F_SETFD, FD_CLOEXEC);
  output_ = Descriptor(terminal);
  input_ = Descriptor(fcntl(terminal, F_DUPFD_CLOEXEC, 0));
}

void CommandProcess::start_with_pipes(const Options& options) {
  Pipe in, out, error;
  pid_ = fork();
  if (pid_ < 0) throw system_error("fork", errno);
  if (pid_ == 0) {
    dup2(in.out.get(), STDIN_FILENO);
    dup2(out.in.get(), STDOUT_FILENO);
    dup2(error.in.get(), STDERR_FILENO);
    become(options);
  }
  input_ = std::move(in.in);
  output_ = std::move(out.out);
  error_output_ = std::move(error.out);
}

CommandProcess::~CommandProcess() {
  if (code_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

// Reads available output and waits briefly for it. Returns false when all output has ended.
bool CommandProcess::pump(Deadline deadline) {
  std::array<pollfd, 2> waits{{{.fd = output_.get(), .events = POLLIN, .revents = 0},
                               {.fd = error_output_.get(), .events = POLLIN, .revents = 0}}};
  if (waits[0].fd < 0 && waits[1].fd < 0) return false;
  poll(waits.data(), waits.size(), std::min(20, std::max(0, deadline.poll_timeout())));
  if (waits[0].revents != 0) read_into(output_, out_);
  if (waits[1].revents != 0) read_into(error_output_, error_);
  return true;
}

void CommandProcess::wait_for_output(std::string_view text, Deadline deadline, int count) {
  while (occurrences(out_, text) + occurrences(error_, text) < count) {
    const bool is_open = pump(deadline);
    if (is_open && !deadline.is_past()) continue;
    throw Error(ErrorCode::Deadline, "no \"" + std::string(text) + "\" in the output\n" + out_ +
                                         "\nnor in the errors\n" + error_);
  }
}

std::string CommandProcess::wait_for_line(std::string_view text, Deadline deadline) {
  while (true) {
    const std::size_t at = out_.find(text);
    const std::size_t end = at == std::string::npos ? at : out_.find('\n', at);
    if (end != std::string::npos) return out_.substr(at + text.size(), end - at - text.size());
    const bool is_open = pump(deadline);
    if (is_open && !deadline.is_past()) continue;
    throw Error(ErrorCode::Deadline, "no line with \"" + std::string(text) + "\" in the output\n" +
                                         out_ + "\nerrors\n" + error_);
  }
}

void CommandProcess::type(std::string_view text) {
  if (write(input_.get(), text.data(), text.size()) != std::ssize(text)) {
    throw system_error("typing", errno);
  }
}

void CommandProcess::signal(int number) const {
  if (!code_) kill(pid_, number);
}

bool CommandProcess::has_exited() {
  if (code_) return true;
  int status = 0;
  const pid_t reaped = waitpid(pid_, &status, WNOHANG);
  // Another part of this process may have reaped the child; then its exit status is unknown.
  const bool is_gone = reaped < 0 && errno == ECHILD;
  if (reaped != pid_ && !is_gone) return false;
  if (is_gone) status = SIGKILL;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  elapsed_ = std::chrono::steady_clock::now() - begin_;
  return true;
}

int CommandProcess::wait_exit(Deadline deadline) {
  bool is_open = true;
  while (!has_exited() || (is_read_ && is_open)) {
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline,
                  "the process or its output has not ended\n" + out_ + "\nerrors\n" + error_);
    }
    is_open = is_read_ && pump(deadline);
    if (!is_open && !code_) poll(nullptr, 0, 2);
  }
  return *code_;
}

}  // namespace trireme::testing
