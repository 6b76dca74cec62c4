// Runs one job on several hosts: starts an agent on each through ssh (fleet.h, link.h), starts all
// ranks together, forwards their output and signals, and ends the job everywhere when a rank fails,
// a host is lost, it is told to, or the process that the user started is gone.
//
// It does for several hosts what ../launcher.h does for one, and like that one it is one of the
// processes that watch a job (../front.h): when all of them die, ssh dies with them, and the agents
// with ssh.
//
// Elastic:       workers are replaced on their hosts and lost hosts are retried (../upkeep.h). When
//                this process and the front die, agents and workers continue for orphan_timeout; if
//                only this process dies, its replacement takes them over.
// Rendezvous:    ranks find the job's store on this host, at a port of its address on the route to
//                the first other host, or of the address or interface that the user specified. An
//                elastic job's store is served by the coordinator on the same host. Nothing else
//                listens.
// Secret:        the agents receive it through ssh's standard input; no command line, environment
//                or file that other users can read ever contains it.
// Errors:        run_launcher() throws nothing; it reports and returns the job's exit code.
// Thread safety: the calling thread runs the loop; the output writer and the control server have
//                their own threads.

#pragma once

#include "trireme/cluster/launch/launcher.h"

namespace trireme::cluster::launch::hosts {

// Returns the job's exit code. The folder is removed and no descendant is left.
int run_launcher(const LauncherOptions& options) noexcept;

}  // namespace trireme::cluster::launch::hosts
