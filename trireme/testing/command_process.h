// CommandProcess runs a program as a user would: its output goes to pipes or to its own terminal,
// and every wait has a deadline.
//
//   CommandProcess job({.command = {"trireme", "run", "-n", "2", "sh", "-c", "echo hi"}});
//   job.wait_for_output("hi", deadline);
//   EXPECT_EQ(job.wait_exit(deadline), 0);
//
// Terminal:      with is_terminal the program leads a session on a pseudo-terminal and is its
//                foreground process group. out() holds everything it prints; type("\x03") is
//                Ctrl-C.
// Errors:        Deadline, with the output so far; Unsupported if the machine has no
//                pseudo-terminals.
// Signals:       the program starts with default handling of every signal, even if this process
//                ignores or blocks some (nohup, a background job of a shell).
// Lifetime:      the destructor kills the process (not its children) and reaps it.
// Thread safety: one thread at a time.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::testing {

class CommandProcess {
 public:
  struct Options {
    std::vector<std::string> command;                  // the first word is the path of the program
    std::map<std::string, std::string> environment{};  // added to ours; "" removes
    bool is_terminal = false;
    bool is_read = true;  // false: wait_exit() does not read its output
  };

  explicit CommandProcess(const Options& options);
  ~CommandProcess();
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  const std::string& out() const noexcept { return out_; }
  const std::string& error() const noexcept { return error_; }

  // Waits until its output (stdout or stderr) contains `text` `count` times.
  void wait_for_output(std::string_view text, Deadline deadline, int count = 1);
  // Waits until a line of its standard output contains `text`; returns the rest of that line.
  std::string wait_for_line(std::string_view text, Deadline deadline);
  // Writes to its standard input, or types at its terminal.
  void type(std::string_view text);
  void close_input() { input_.reset(); }
  // Closes the reading end of its standard output, as `| head` does.
  void close_output() { output_.reset(); }
  void signal(int number) const;

  // Returns 0 ... 255, or 128 plus the signal that killed it. Reads its output to the end.
  int wait_exit(Deadline deadline);
  // The time from start to exit.
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
