// The warden is a process between the front and the launcher of a job that is not elastic. It only
// waits, so that whatever both of them leave falls to it.
//
// Why a third:  front and launcher are both `trireme`, and `killall -9 trireme` kills them in the
//               same instant. The warden has another name and another command line. It is the
//               launcher's parent and a subreaper: what the launcher leaves, in whatever session,
//               group or environment, becomes its child.
// What it does: it exits as the launcher does. Of a launcher that was killed it ends every process
//               and removes the folder; then it dies by the same signal, as the front expects.
// Its death:    the launcher, its only child, falls to the front, which ends the job.
// Threads:      none; it forks before there are any.

#pragma once

#include <sys/types.h>

#include "trireme/base/descriptor.h"
#include "trireme/cluster/launch/job/folder.h"

namespace trireme::cluster::launch {

inline constexpr const char* kWardenName = "job-warden";

struct Ward {
  const job::Folder* folder = nullptr;
  pid_t front = 0;
};

// Makes this process, which the front has forked, a warden. Returns in its child alone, which is
// the launcher to be; the warden closes `socket`, that child's way to the front. Throws Io.
void become_warden(const Ward& ward, Descriptor& socket);

}  // namespace trireme::cluster::launch
