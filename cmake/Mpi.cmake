# MPI: used by trireme/comm/mpi once that folder exists; absent, that backend is a stub.
# Sets TRIREME_HAS_MPI and TRIREME_PART_MPI, the line that `trireme version` prints.

find_program(TRIREME_MPICXX mpicxx)
mark_as_advanced(TRIREME_MPICXX)
set(TRIREME_HAS_MPI FALSE)
set(TRIREME_PART_MPI "off: no mpicxx (libopenmpi-dev)")
if(TRIREME_MPICXX AND EXISTS "${CMAKE_SOURCE_DIR}/trireme/comm/mpi")
  find_package(MPI COMPONENTS CXX)
  set(TRIREME_HAS_MPI ${MPI_CXX_FOUND})
  set(TRIREME_PART_MPI "on: ${MPI_CXX_VERSION}")
elseif(TRIREME_MPICXX)
  set(TRIREME_PART_MPI "off: found, but nothing uses it yet")
endif()
