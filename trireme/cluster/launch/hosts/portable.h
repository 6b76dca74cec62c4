// What is sent from this host to the other hosts of a job, and where they reach this host.
//
// Errors:        meeting_address() throws NotFound for an interface that does not exist.
// Thread safety: pure, except for reading this host's name, interfaces and routes.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/cluster/launch/rank/environment.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch::hosts {

// The address at which the ranks on these hosts reach this host.
std::string meeting_address(const Hosts& hosts);

// The part of an environment that is sent to other hosts: settings of Trireme, OpenMP, MKL and
// NCCL, but neither a rank's identity or location nor any secret.
EnvironmentVariables portable(const EnvironmentVariables& environment);

// Whether a program is installed on every host, such as /usr/bin/python3, and must not be copied.
bool is_of_the_system(const std::filesystem::path& program);

}  // namespace trireme::cluster::launch::hosts
