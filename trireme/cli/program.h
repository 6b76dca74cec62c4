// Runs another program until it exits and passes on the lines that it prints. No process remains
// after Ctrl-C or after this process was killed.
//
// Signals:       the program has its own process group. SIGINT, SIGTERM and SIGHUP that this
//                process receives are forwarded to that group; the program's own handlers decide
//                what they mean.
// Death:         the kernel sends `death_signal` to the program when this process dies for any
//                reason.
// Errors:        InvalidInput if the program cannot be started. Deadline after it was killed for
//                exceeding its deadline. The caller evaluates any other exit status.
// Thread safety: call it while the process has one thread; PR_SET_PDEATHSIG applies to the calling
//                thread.

#pragma once

#include <signal.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"

namespace trireme::cli {

struct Program {
  std::vector<std::string> words;
  int death_signal = SIGTERM;
};

struct ProgramEnd {
  int code = 0;                 // 128 plus the signal number if a signal killed it
  bool is_interrupted = false;  // this process received a signal and forwarded it
};

// `on_line` receives each line of standard output without its newline; standard error is inherited.
ProgramEnd run_program(const Program& program, Deadline deadline,
                       const std::function<void(std::string_view)>& on_line);

// The program of this name in the folder of the running one; empty if there is none.
std::filesystem::path beside(const std::string& name);

// Becomes the program of this name in the folder of the running one, whose exit status is therefore
// this one's. Throws NotFound if there is none, because it is built only with the tests.
int become_beside(const std::string& name, const std::vector<std::string>& words);

}  // namespace trireme::cli
