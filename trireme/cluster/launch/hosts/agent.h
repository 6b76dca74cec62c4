// The agent runs a job's ranks on one host for a launcher on another: `trireme agent`, which the
// launcher starts through ssh.
//
// Meaning:  ranks are started as on the launching host (cores, environment, a private folder with
//           the job's secret); what they write and how they end goes back through standard output,
//           and signals come through standard input: see frame.h. It decides nothing itself.
// End:      with its last rank. When standard input ends or the launcher is silent for
//           kSilenceMax, whatever the cause, every process of the job here is killed.
// Elastic:  workers are started one by one as the launcher says, and it ends when told to. When the
//           launcher is lost they go on for the job's orphan_timeout; one that comes back within
//           that finds this agent again (handover.h) and hears who lives. Nothing is read of what
//           they write meanwhile: pipes hold a little, and then they wait.
// Three:    it is three processes, as every launcher (see front.h), so that kill -9 of any two
//           leaves nothing behind.
// Threads:  call it before the process has any other.
// Failure:  none is thrown; the launcher is told, and the exit code is not 0.

#pragma once

namespace trireme::cluster::launch::hosts {

// Returns the exit code: 0 when the ranks ran, however they ended.
int run_agent();

}  // namespace trireme::cluster::launch::hosts
