// The front is the process that the user started. It forks the launcher at once, forwards signals
// to it, waits, and exits with the same status.
//
// Why several processes: no process can clean up after its own SIGKILL, but each can clean up after
// the others. When the front dies, its socket to the launcher closes, and the launcher kills the
// job. When the launcher dies, the kernel kills the ranks (their parent-death signal). The ranks'
// own child processes are reparented to the warden (warden.h), a process between the front and the
// launcher, which kills them too, even if the front died at the same moment. When the warden dies,
// the launcher is reparented to the front, which kills everything. If all three die at once, the
// ranks still die, but processes that they started may remain; the next `trireme run` ends those.
//
// In an elastic job the ranks outlive the launcher, and there is no warden. The ranks are
// reparented to the front, which starts a replacement launcher that takes them over, at most
// kLaunchersMax times within ten minutes, and reports their ends to it. When the front is killed,
// the launcher continues for `orphan_timeout` and then ends the job; when both are killed, the
// coordinator does.
//
// Errors:        InvalidInput for user errors, before anything is started.
// Thread safety: call it before the process has any other thread.

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

// The launcher's function; returns the exit code. It leaves neither folder nor descendant behind.
using Watched = std::function<int(const LauncherOptions&)>;
int run_watched(const JobSpec& spec, const job::Folder& folder, host::SignalQueue& signals,
                const Watched& watched);

}  // namespace trireme::cluster::launch
