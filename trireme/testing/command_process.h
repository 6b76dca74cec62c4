// CommandProcess runs a program as a person would: with its output caught by pipes or at a
// terminal of its own, and every wait bounded.
//
//   CommandProcess job({.command = {"trireme", "run", "-n", "2", "sh", "-c", "echo hi"}});
//   job.wait_for_output("hi", deadline);
//   EXPECT_EQ(job.wait_exit(deadline), 0);
//
// Terminal: with is_terminal the program leads a session on a pseudo-terminal, is its foreground
//           group, and out() holds all that it shows; type("\x03") is Ctrl-C.
// Failure:  Deadline, with what was written until then; Unsupported where the machine has no
//           pseudo-terminals.
// Lifetime: the destructor kills the process (not its children) and reaps it.
// Threads:  one.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/descriptor.h"

namespace trireme::testing {

class CommandProcess {
 public:
  struct Options {
    std::vector<std::string> command;                  // the program by path
    std::map<std::string, std::string> environment{};  // on top of our own; "" removes
    bool is_terminal = false;
    bool is_read = true;  // false: nobody reads its output until read() is called
  };

  explicit CommandProcess(const Options& options);
  ~CommandProcess();
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  const std::string& out() const noexcept { return out_; }
  const std::string& error() const noexcept { return error_; }

  // Waits until its output (either) holds `text`, `count` times.
  void wait_for_output(std::string_view text, Deadline deadline, int count = 1);
  // To its standard input, or typed at its terminal.
  void type(std::string_view text);
  void close_input() { input_.reset(); }
  // As `| head` does when it has seen enough.
  void close_output() { output_.reset(); }
  void signal(int number) const;

  // 0 ... 255, or 128 plus the signal that killed it. Reads its output to the end.
  int wait_exit(Deadline deadline);
  // From start to end.
  std::chrono::nanoseconds elapsed() const noexcept { return elapsed_; }

 private:
  void start_at_terminal(const Options& options);
  void start_with_pipes(const Options& options);
  bool pump(Deadline deadline);
  bool has_exited();

  pid_t pid_ = -1;
  Descriptor input_, output_, error_output_;
  std::string out_, error_;
  bool is_read_ = true;
  std::optional<int> code_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::nanoseconds elapsed_{0};
};

}  // namespace trireme::testing
