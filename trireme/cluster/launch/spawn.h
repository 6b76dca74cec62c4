// Starts the process of one rank: fork, a few system calls, exec.
//
// Meaning:  the process leads a process group of its own, so that a terminal's Ctrl-C reaches it
//           once, through us; it is killed by the kernel when our calling thread dies, in
//           whatever way, unless dies_with_us is false; it runs on its processors and has the
//           signal mask and limits that we were started with.
// Failure:  fork's own failure throws Exhausted or Io. What fails in the new process arrives
//           as a SpawnTrouble on the trouble pipe, and the process exits with 127 (126 where the
//           program is there and cannot be run).
// Threads:  call it on the thread that lives as long as the job.

#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/cluster/launch/environment.h"

namespace trireme::cluster::launch {

struct SpawnOptions {
  int rank = 0;
  std::filesystem::path program;
  std::vector<std::string> arguments;  // with the program's name as the first
  Environment environment;
  std::vector<int> processors;  // empty: anywhere
  int input = -1;               // -1: /dev/null
  int output = -1;
  int error = -1;
  int trouble = -1;  // the trouble pipe's end for writing
  sigset_t mask{};
  std::optional<rlimit> files_max;
  bool dies_with_us = true;
};

// Returns the process.
pid_t spawn(const SpawnOptions& options);

// Why a process that was forked could not become the program. Written whole to the pipe.
struct SpawnTrouble {
  int rank = 0;
  int error = 0;       // errno
  char step[24] = {};  // the system call
};

// "could not be started: execve: Exec format error (a script needs #! in its first line)"
std::string describe(const SpawnTrouble& trouble);

}  // namespace trireme::cluster::launch
