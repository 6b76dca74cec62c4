// The identity of the host that a process lives on: two ranks with the same id may share memory,
// two with different ids are never asked to.
//
// Made of the kernel's boot id and the process's network and mount namespaces, so that two
// containers on one machine are two hosts. TRIREME_HOST is appended and cannot replace any of it:
// a setting may split a host in two, never claim that two are one.
//
// Failure: none; what /proc does not tell is left out, and the host's name stands in for a
//          missing boot id.

#pragma once

#include <string>

#include "trireme/cluster/variables.h"

namespace trireme::cluster {

std::string host_id(const Lookup& lookup);

// For people; may be the same on two hosts.
std::string host_name(const Lookup& lookup);

}  // namespace trireme::cluster
