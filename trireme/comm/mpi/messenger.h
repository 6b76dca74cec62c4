// The messenger of Open MPI: the same collectives as over TCP, carried by MPI's own transports.
//
// For clusters where only MPI knows the fast network. Open MPI 4.1 has no fault tolerance: a rank
// that dies takes the job with it, so deaths are not named here (see Capabilities).
//
// Where MPI was not found at build time, make_messenger() throws Unsupported.

#pragma once

#include <memory>

#include "trireme/comm/algorithm/messenger.h"
#include "trireme/comm/engine.h"

namespace trireme::comm::mpi {

// One object behind two interfaces.
struct MpiParts {
  std::shared_ptr<Messenger> messenger;
  std::shared_ptr<ProgressSource> source;
  int size = 0;  // ranks that MPI knows
};

bool is_available() noexcept;

// Initializes MPI if the program has not, and finalizes it then at the end of the messenger: that
// waits until all ranks have come so far, for at most 5 minutes; then the process leaves without,
// which mpirun takes for a failure. REQUIRES: the process runs under mpirun.
MpiParts make_messenger();

}  // namespace trireme::comm::mpi
