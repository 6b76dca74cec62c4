// Runs one job on several hosts: starts an agent on each through ssh (fleet.h, link.h), lets all
// ranks begin at once, carries their output, forwards signals, and ends the job everywhere when a
// rank fails, a host is lost, it is told to, or the process that the user started is gone.
//
// It is to several hosts what ../launcher.h is to one, and like that one of the processes
// that watch a job (../front.h): when all die ssh dies with them, and the agents with ssh.
//
// Elastic:  workers are replaced on their hosts and lost hosts are tried again (../upkeep.h). When
//           it and the front die, agents and workers go on for orphan_timeout; where only this one
//           does, the next one takes them over.
// Meeting:  ranks find the job's store here, at a port of this host's address on the way to the
//           first other host, or of the address or interface that was named; an elastic job's store
//           is the coordinator's, beside it. Nothing else listens.
// Secret:   the agents get it through ssh's standard input; no command line, environment or file
//           that others can read ever holds it.
// Threads:  the calling one runs the loop; the output writer and the control server have theirs.
// Failure:  run_launcher() throws nothing; it reports and returns the job's exit code.

#pragma once

#include "trireme/cluster/launch/launcher.h"

namespace trireme::cluster::launch::hosts {

// Returns the job's exit code. The folder is removed and no descendant is left.
int run_launcher(const LauncherOptions& options) noexcept;

}  // namespace trireme::cluster::launch::hosts
