// The warden is a process between the front and the launcher of a job that is not elastic. It only
// waits, so that processes that both of them leave behind are reparented to it.
//
// Reason:        front and launcher are both `trireme`, and `killall -9 trireme` kills them at the
//                same moment. The warden has another name and another command line. It is the
//                launcher's parent and a subreaper: every process that the launcher leaves, in any
//                session, group or environment, becomes its child.
// Behaviour:     it exits with the launcher's status. If the launcher was killed, it ends every
//                process, removes the folder and reports it, since the front may have been killed
//                too. It sends the front one byte, so that the front does not report it again, and
//                dies by the same signal.
// Its death:     the launcher, its only child, is reparented to the front, which ends the job.
// Thread safety: has no threads; it forks before there are any.

#pragma once

#include <sys/types.h>

#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/launch/job/folder.h"

namespace trireme::cluster::launch {

inline constexpr const char* kWardenName = "job-warden";

// Makes this process, which the front has forked, a warden. Returns only in its child, which
// becomes the launcher; both keep `socket`, the connection to the front. Throws Io.
void become_warden(const job::Folder& folder, Descriptor& socket);

}  // namespace trireme::cluster::launch
