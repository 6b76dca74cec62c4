// Runs another program to its end, hands on the lines that it prints, and leaves nothing of it
// behind: not after Ctrl-C, not when this process is killed.
//
// Signals:  the program has a process group of its own. SIGINT, SIGTERM and SIGHUP that come to
//           us go to that group, once each; the program's own handling decides what they mean.
// Death:    `death_signal` is what the kernel sends to the program when we die in whatever way.
// Failure:  InvalidInput when it cannot be started, Deadline after it was killed for taking too
//           long. How it ended otherwise is the caller's to judge.
// Threads:  call it while the process has one thread; PR_SET_PDEATHSIG means the calling thread.

#pragma once

#include <signal.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"

namespace trireme::cli::bench {

struct Program {
  std::vector<std::string> words;
  int death_signal = SIGTERM;
};

struct ProgramEnd {
  int code = 0;                 // 128 plus the number for a signal
  bool is_interrupted = false;  // a signal that came to us was handed on
};

// `on_line` gets each line of standard output without its newline; standard error is ours.
ProgramEnd run_program(const Program& program, Deadline deadline,
                       const std::function<void(std::string_view)>& on_line);

}  // namespace trireme::cli::bench
