// What of this host goes with a job to others, and where those reach it.
//
// Failure: meeting_address() throws NotFound for an interface that there is not.
// Threads: pure, but for this host's name, interfaces and routes.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/cluster/launch/environment.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch::hosts {

// Where the ranks of these hosts reach this one.
std::string meeting_address(const Hosts& hosts);

// What of an environment goes to other hosts: settings of Trireme's, OpenMP's, MKL's and NCCL's,
// but nothing that says who or where a rank is, nor any secret.
Environment portable(const Environment& environment);

// Whether a program is every host's own, such as /usr/bin/python3, and not to be copied there.
bool is_of_the_system(const std::filesystem::path& program);

}  // namespace trireme::cluster::launch::hosts
