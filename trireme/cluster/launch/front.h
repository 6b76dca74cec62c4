// The front is the process that the user started. It forks the launcher at once, forwards
// signals to it, waits, and exits as it does.
//
// Why several: none can clean up after its own SIGKILL, but each can after the others'. When the
// front dies, its socket to the launcher ends, and the launcher kills the job. When the launcher
// dies, the kernel kills the ranks (their parent-death signal), and their orphans come to the
// warden (warden.h), a process between the two, which kills them too, also where the front died in
// the same instant. When the warden dies, the launcher falls to the front, which kills everything.
// What remains is the death of all three at once: then ranks still die, but processes that they had
// started may not; the next `trireme run` ends those.
//
// In an elastic job ranks outlive the launcher, and there is no warden. The front, to which they
// fall as orphans, starts another launcher that takes them over, at most kLaunchersMax times within
// ten minutes, and tells it of their ends. When the front is killed, the launcher goes on for
// `orphan_timeout` and then ends the job; when both are, the coordinator does.
//
// Threads: call it before the process has any other.
// Failure: InvalidInput for what the user got wrong, before anything is started.

#pragma once

#include <functional>

#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/launcher.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

inline constexpr int kLaunchersMax = 10;

// Runs the job, on this host or several, and returns its exit code.
int run_job(const JobSpec& spec);

// What the launcher does; returns the exit code. It leaves neither folder nor descendant.
using Watched = std::function<int(const LauncherOptions&)>;
int run_watched(const JobSpec& spec, const job::Folder& folder, host::SignalQueue& signals,
                const Watched& watched);

}  // namespace trireme::cluster::launch
