// connect() gives the ranks of a job the group in which they all are: how a Group is had.
//
//   cluster::World world = cluster::World::join();
//   comm::Group group = comm::connect(world);
//
// It finds out who shares memory with whom (by proof: a descriptor opened and a nonce read back;
// what ranks claim about their hosts only says whom to ask), takes shared memory inside a host
// and TCP across, and ends every group that a dead rank was in.
//
// Failure:  Deadline, PeerLost, Exhausted, Unsupported, Unauthenticated. A rank that dies meanwhile
//           ends it on the others at once, one that leaves within a second or so.
// Lifetime: the World must outlive the group and all sub-groups.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/fault.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/group.h"

namespace trireme::comm {

enum class Transport : std::uint8_t {
  Auto,  // shared memory where it is proven, TCP elsewhere
  Shm,   // an error where memory is not shared
  Tcp,   // even where it is, to compare
  Mpi,   // Open MPI, under mpirun
};

std::string_view name_of(Transport transport) noexcept;
// Throws InvalidInput and lists the names.
Transport transport_named(std::string_view name);

struct ConnectOptions {
  Transport transport = Transport::Auto;
  Duration timeout = std::chrono::seconds(60);           // for connecting
  Duration operation_timeout = std::chrono::minutes(5);  // for operations that name none
  Algorithm algorithm = Algorithm::Auto;                 // of large reductions over TCP
  int streams = 1;                                       // TCP connections a pair
  bool checksums = false;                                // of TCP payloads; or TRIREME_CHECKSUMS
  std::string interface = {};                            // network interface by name
  Log log = {};                                          // for what is odd, but works
  Faults* faults = nullptr;
};

// Throws Unsupported where more ranks are on one host than can share memory: on every rank, since
// all of them have the same roster. connect() asks, unless memory is not to be shared.
void check_host_sizes(const cluster::Roster& roster);

Group connect(cluster::World& world, const ConnectOptions& options = {});

}  // namespace trireme::comm
