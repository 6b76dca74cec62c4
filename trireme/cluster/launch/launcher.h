// Launcher runs one job on this host: starts its ranks, carries their output, forwards signals,
// and ends every process of the job when one rank fails, when it is told to, or when the process
// that the user started is gone.
//
// It is the second of the two processes that watch a job (front.h is the first). Each notices
// the other's death, whatever the cause, and then ends the job.
//
// Threads: the calling one runs the loop; the output writer and the control server have theirs.
// Failure: run() throws nothing; it reports and returns the job's exit code.

#pragma once

#include <signal.h>

#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

struct LauncherOptions {
  const JobSpec* spec = nullptr;
  const job::Folder* folder = nullptr;
  host::SignalQueue* signals = nullptr;
  // A socket to the front: each byte is a signal to act on; its end means that the front died.
  int front = -1;
  pid_t front_pid = 0;
};

// Returns the job's exit code. The folder is removed and no descendant is left.
int run_launcher(const LauncherOptions& options) noexcept;

}  // namespace trireme::cluster::launch
