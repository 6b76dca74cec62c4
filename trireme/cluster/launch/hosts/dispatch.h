// A dispatch is how one host of a job is reached and the order for its agent: created once per
// host, and used again when the host is lost and comes back.
//
// Errors:        NotFound if ssh does not exist; what reading the job's files throws.
// Thread safety: pure, except for reading the files, this host's name and this process's
//                environment.

#pragma once

#include <string>
#include <vector>

#include "trireme/cluster/launch/hosts/link.h"
#include "trireme/cluster/launch/launcher.h"

namespace trireme::cluster::launch::hosts {

// In the order of the host list. `store`: the address of the store; `feed`: where ranks send
// reports.
std::vector<HostLink::Options> dispatches(const LauncherOptions& options, const std::string& store,
                                          const std::string& feed);

}  // namespace trireme::cluster::launch::hosts
