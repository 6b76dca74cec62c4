// connect() creates the group of all ranks of a job.
//
//   cluster::World world = cluster::World::join();
//   comm::Group group = comm::connect(world);
//
// It detects which ranks share memory by a proof: a rank opens a descriptor and reads back a nonce.
// The host that a rank claims to be on only selects the ranks to try. Ranks on one host then use
// shared memory, and ranks on different hosts use TCP. When a rank dies, every group that contains
// it ends.
//
// Errors:   Deadline, PeerLost, Exhausted, Unsupported, Unauthenticated. If a rank dies during the
//           call, the call fails on the other ranks at once; if a rank leaves, within about a
//           second.
// Lifetime: the World must outlive the group and all of its sub-groups.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/fault.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/group.h"

namespace trireme::comm {

enum class Transport : std::uint8_t {
  Auto,  // shared memory where the proof succeeds, TCP elsewhere
  Shm,   // fails if memory is not shared
  Tcp,   // even where memory is shared, for comparisons
  Mpi,   // Open MPI, under mpirun
};

std::string_view name_of(Transport transport) noexcept;
// Errors: throws InvalidInput, with a list of the valid names.
Transport transport_named(std::string_view name);

struct ConnectOptions {
  Transport transport = Transport::Auto;
  Duration timeout = std::chrono::seconds(60);         // for connecting
  Duration operation_timeout = Timeouts::kCollective;  // for operations without their own deadline
  Algorithm algorithm = Algorithm::Auto;               // of large reductions over TCP
  int streams = 1;                                     // TCP connections per pair of ranks
  bool checksums = false;                              // of TCP payloads; or TRIREME_CHECKSUMS
  std::string interface = {};                          // network interface by name
  Log log = {};  // for conditions that are unusual but not errors
  Faults* faults = nullptr;
};

// Errors: throws Unsupported if one host has more ranks than can share memory. All ranks have the
// same roster, so every rank throws. connect() calls this unless the transport does not share
// memory.
void check_host_sizes(const cluster::Roster& roster);

Group connect(cluster::World& world, const ConnectOptions& options = {});

}  // namespace trireme::comm
