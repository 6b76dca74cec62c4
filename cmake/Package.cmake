# `make package`: a Debian package and a tarball of everything that is installed, except the path of
# the build's torch. PyTorch itself is in neither; cmake/with_torch.sh.in finds it.

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(CPACK_PACKAGE_NAME trireme)
set(CPACK_PACKAGE_VENDOR "The Trireme authors")
set(CPACK_PACKAGE_CONTACT "The Trireme authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Distributed, elastic training of neural networks on LibTorch")
set(CPACK_PACKAGE_DESCRIPTION "The program trireme trains a model from one recipe file on many \
processes, cores and hosts, and the libraries add data parallelism, ZeRO, checkpoints and recovery \
from failures to any LibTorch program. PyTorch is not included: install it with pip and name its \
folder in the variable TRIREME_TORCH.")
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" system)
set(CPACK_PACKAGE_FILE_NAME "trireme-${PROJECT_VERSION}-${system}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
# Without the component torch_of_build; everything else has no component.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};Trireme;Unspecified;/")
set(CPACK_GENERATOR TGZ)

find_program(TRIREME_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(TRIREME_SHLIBDEPS)
if(TRIREME_SHLIBDEPS)
  list(APPEND CPACK_GENERATOR DEB)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  # Finds the packages of all libraries but torch's, which belong to none.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  if(TRIREME_HAS_TORCH)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${TRIREME_TORCH_DIR}/lib")
  endif()
  # PyTorch comes from pip; programs that link the libraries need the headers of the parts.
  set(suggested python3-venv g++ cmake libssl-dev)
  foreach(part MPI=libopenmpi-dev ZSTD=libzstd-dev ZLIB=zlib1g-dev JPEG=libjpeg-dev PNG=libpng-dev)
    string(REGEX MATCH "^([^=]+)=(.*)$" part "${part}")
    if(TRIREME_HAS_${CMAKE_MATCH_1})
      list(APPEND suggested "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  list(JOIN suggested ", " CPACK_DEBIAN_PACKAGE_SUGGESTS)
endif()

include(CPack)
