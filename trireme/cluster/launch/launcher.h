// Launcher runs one job, on this host or on several: it has the ranks started, forwards their
// output and signals, and ends every process of the job when the job's policy says so (when a rank
// of a fixed job fails), when it is told to, or when the process that the user started is gone.
//
// It is one of the processes that watch a job (watch/front.h describes the others). Each of them
// notices the death of the others, whatever the cause, and then ends the job. In an elastic job,
// the front instead starts a replacement launcher, which takes over the workers and the
// coordinator, and the launcher continues without a front for `orphan_timeout`.
//
// Parts:         JobHosts: where the ranks run, with RankControl and RankRecords; JobPolicy: which
//                ranks run; Rendezvous: their store; Ending: how the job ends. The launcher is the
//                loop over them.
// Several hosts: ranks find the job's store on this host, at a port of its address on the route to
//                the first other host, or of the address or interface that the user specified.
//                Nothing else listens. When all processes that watch the job die, ssh dies with
//                them, and the agents with ssh, or after orphan_timeout.
// Secret:        agents receive it through ssh's standard input; no command line, environment or
//                file that other users can read ever contains it.
// Errors:        run_launcher() throws nothing; it reports and returns the job's exit code.
// Thread safety: the calling thread runs the loop; the output writer and the control server have
//                their own threads.

#pragma once

#include <signal.h>

#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

// A message from the front to its launcher: a signal to handle, or how a process ended that an
// earlier launcher had started and that is therefore a child of the front now. Later launchers
// receive these ends too. By then the pid may have been reused, so `start` identifies the process
// (host::Process).
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
  // A socket (SOCK_SEQPACKET) of FrontMessages; it closes when the front dies.
  int front = -1;
  pid_t front_pid = 0;
  // Elastic jobs: take over the workers of a launcher that was killed.
  bool is_successor = false;
};

// Returns the job's exit code. The folder is removed and no descendant is left.
int run_launcher(const LauncherOptions& options) noexcept;

}  // namespace trireme::cluster::launch
