// Launcher runs one job on this host: starts its ranks, carries their output, forwards signals,
// and ends every process of the job when one rank fails, when it is told to, or when the process
// that the user started is gone.
//
// It is one of the processes that watch a job (front.h says who the others are). Each notices the
// others' deaths, whatever the cause, and then ends the job; but an elastic job's front starts
// another launcher, which takes over the workers and the coordinator, and its launcher goes on
// without a front for `orphan_timeout`.
//
// Threads: the calling one runs the loop; the output writer and the control server have theirs.
// Failure: run() throws nothing; it reports and returns the job's exit code.

#pragma once

#include <signal.h>

#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

// What the front tells its launcher: a signal to act on, or how a process ended that a launcher
// before this one had started and that therefore is the front's child now. Such ends are told to
// later launchers too, when its number may be another's: `start` is what names it (host::Process).
struct FrontMessage {
  int signal = 0;
  pid_t pid = 0;
  unsigned long long start = 0;
  int status = 0;
};

struct LauncherOptions {
  const JobSpec* spec = nullptr;
  const job::Folder* folder = nullptr;
  host::SignalQueue* signals = nullptr;
  // A socket (SOCK_SEQPACKET) of FrontMessages; its end means that the front died.
  int front = -1;
  pid_t front_pid = 0;
  // Of an elastic job: take over what a launcher that was killed had begun.
  bool is_successor = false;
};

// Returns the job's exit code. The folder is removed and no descendant is left.
int run_launcher(const LauncherOptions& options) noexcept;

}  // namespace trireme::cluster::launch
