// Starts the process of one rank: fork, a few system calls, exec.
//
// Process:       it leads its own process group, so that a terminal's Ctrl-C reaches it only once,
//                through the launcher. Unless dies_with_us is false, the kernel kills it when the
//                calling thread dies in any way. It runs on its assigned processors, with the
//                signal mask and limits that the launcher was started with.
// Errors:        throws Exhausted or Io if fork fails. A failure in the new process arrives as a
//                SpawnTrouble on the trouble pipe, and the process exits with 127 (126 if the
//                program exists and cannot be run).
// Thread safety: call it on the thread that lives as long as the job.

#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/cluster/launch/rank/environment.h"

namespace trireme::cluster::launch {

struct SpawnOptions {
  int rank = 0;
  std::filesystem::path program;
  std::vector<std::string> arguments;  // including the program's name as the first
  EnvironmentVariables environment;
  std::vector<int> processors;  // empty: no binding
  int input = -1;               // -1: /dev/null
  int output = -1;
  int error = -1;
  int trouble = -1;  // the write end of the trouble pipe
  sigset_t mask{};
  std::optional<rlimit> files_max;
  bool dies_with_us = true;
};

// Returns the process id.
pid_t spawn(const SpawnOptions& options);

// Why a forked process could not execute the program. Written to the pipe in one piece.
struct SpawnTrouble {
  int rank = 0;
  int error = 0;       // errno
  char step[24] = {};  // the system call
};

// "could not be started: execve: Exec format error (a script needs #! in its first line)"
std::string describe(const SpawnTrouble& trouble);

}  // namespace trireme::cluster::launch
