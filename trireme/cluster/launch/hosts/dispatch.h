// A dispatch is how one host of a job is reached and what its agent is ordered: made once for every
// host, and used again where the host is lost and comes back.
//
// Failure: NotFound for an ssh that there is not; what reading the job's files throws.
// Threads: pure, but for the files, this host's name and this process's environment.

#pragma once

#include <string>
#include <vector>

#include "trireme/cluster/launch/hosts/link.h"
#include "trireme/cluster/launch/launcher.h"

namespace trireme::cluster::launch::hosts {

// In the order of the list of hosts. `store`: where ranks meet; `feed`: where they report to.
std::vector<Link::Options> dispatches(const LauncherOptions& options, const std::string& store,
                                      const std::string& feed);

}  // namespace trireme::cluster::launch::hosts
