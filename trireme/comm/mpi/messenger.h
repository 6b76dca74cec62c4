// A Messenger on Open MPI: the same collectives as over TCP, carried by MPI's own transports.
//
// For clusters on which only MPI supports the fast network. Open MPI 4.1 has no fault tolerance: a
// rank that dies ends the job, so dead ranks are not reported (see Capabilities).
//
// If MPI was not found at build time, make_messenger() throws Unsupported.

#pragma once

#include <memory>

#include "trireme/comm/algorithm/messenger.h"
#include "trireme/comm/engine.h"

namespace trireme::comm::mpi {

// One object, exposed through two interfaces.
struct MpiParts {
  std::shared_ptr<Messenger> messenger;
  std::shared_ptr<ProgressSource> source;
  int size = 0;  // number of ranks in MPI_COMM_WORLD
};

bool is_available() noexcept;

// Initializes MPI if the program has not done so; the messenger's destructor then finalizes it.
// Finalizing waits until all ranks have reached it, for at most 5 minutes; after that the process
// exits without finalizing, which mpirun reports as a failure. REQUIRES: the process runs under
// mpirun.
MpiParts make_messenger();

}  // namespace trireme::comm::mpi
