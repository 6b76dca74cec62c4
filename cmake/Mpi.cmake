# MPI, used by trireme/comm/mpi. If it is available, the sources of that folder are compiled;
# otherwise only its stub.cpp, whose functions have the same signatures and report that MPI is
# missing. No other code depends on this choice.
# Sets TRIREME_HAS_MPI and TRIREME_PART_MPI, the line that `trireme version` prints.

set(TRIREME_HAS_MPI FALSE)
set(TRIREME_PART_MPI "off: nothing uses it yet")
trireme_sources(mpi_sources comm/mpi)
if(mpi_sources)
  find_program(TRIREME_MPICXX mpicxx)
  mark_as_advanced(TRIREME_MPICXX)
  if(TRIREME_MPICXX AND NOT TRIREME_SANITIZE)
    # The C++ bindings were removed from the standard long ago; Trireme uses only the C functions.
    set(MPI_CXX_SKIP_MPICXX TRUE)
    find_package(MPI QUIET COMPONENTS CXX)
  endif()
  if(MPI_CXX_FOUND)
    set(TRIREME_HAS_MPI TRUE)
    set(TRIREME_PART_MPI "on: MPI ${MPI_CXX_VERSION}")
    list(FILTER mpi_sources EXCLUDE REGEX "/stub\\.cpp$")
  elseif(TRIREME_SANITIZE)
    set(TRIREME_PART_MPI "off: not under a sanitizer")
  else()
    set(TRIREME_PART_MPI "off: no MPI found (libopenmpi-dev)")
  endif()
  if(NOT TRIREME_HAS_MPI)
    list(FILTER mpi_sources INCLUDE REGEX "/stub\\.cpp$")
  endif()
endif()
