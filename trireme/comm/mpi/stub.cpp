// Replaces messenger.cpp if the build found no MPI.

#include "trireme/comm/mpi/messenger.h"

namespace trireme::comm::mpi {

bool is_available() noexcept {
  return false;
}

MpiParts make_messenger() {
  throw Error(ErrorCode::Unsupported,
              "this build has no MPI: install libopenmpi-dev and build again");
}

}  // namespace trireme::comm::mpi
