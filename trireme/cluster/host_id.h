// The identity of the host that a process runs on: two ranks with the same id may share memory, two
// ranks with different ids never try to.
//
// The id consists of the kernel's boot id and the process's network and mount namespaces, so that
// two containers on one machine are two hosts. TRIREME_HOST is appended and replaces none of it:
// the setting can split a host in two, but cannot claim that two hosts are one.
//
// Errors: none; information missing from /proc is left out, and the host's name replaces a missing
//         boot id.

#pragma once

#include <string>

#include "trireme/cluster/variables.h"

namespace trireme::cluster {

std::string host_id(const Lookup& lookup);

// For display; may be the same on two hosts.
std::string host_name(const Lookup& lookup);

}  // namespace trireme::cluster
