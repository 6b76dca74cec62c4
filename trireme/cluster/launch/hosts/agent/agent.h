// The agent runs a job's ranks on one host for a launcher on another host: `trireme agent`, which
// the launcher starts through ssh.
//
// Protocol:      ranks are started one by one on the launcher's request, as on the launching host
//                (cores, environment, a private folder with the job's secret; ../../local_host.h);
//                their output and exits go back through standard output: see ../protocol/frame.h.
//                The agent makes no decisions itself.
// End:           when the launcher says so. When standard input closes or the launcher is silent
//                for kSilenceMax, whatever the cause, every process of the job on this host is
//                killed.
// Elastic:       when the launcher is lost, the workers continue for the job's orphan_timeout. A
//                launcher that reconnects within that time finds this agent again (handover.h) and
//                is told which workers are alive. Meanwhile the workers' output is not read: the
//                pipes buffer a little, and then the workers block.
// Processes:     it consists of three processes, like every launcher (see ../../watch/front.h), so
// that kill -9
//                of any two leaves nothing behind.
// Errors:        none are thrown; the launcher is told, and the exit code is not 0.
// Thread safety: call it before the process has any other thread.

#pragma once

namespace trireme::cluster::launch::hosts {

// Returns the exit code: 0 if the ranks ran, however they ended.
int run_agent();

}  // namespace trireme::cluster::launch::hosts
