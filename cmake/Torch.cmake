# LibTorch from a PyTorch wheel, as Trireme's own imported target: find_package(Torch) fails on a
# CUDA wheel if the CUDA toolkit is missing, and adds unwanted flags.
# Sets TRIREME_HAS_TORCH, TRIREME_TORCH_DIR, TRIREME_TORCH_VERSION; defines trireme::libtorch.

include("${CMAKE_CURRENT_LIST_DIR}/TriremeTorch.cmake")

set(TRIREME_HAS_TORCH FALSE)
set(TRIREME_TORCH_VERSION none)
set(TRIREME_TORCH_DIR "")
if(TRIREME_TORCH STREQUAL "auto")
  file(GLOB found "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  if(found)
    list(GET found 0 TRIREME_TORCH_DIR)
  else()
    message(STATUS "torch: none in .venv (make setup); building what needs no torch")
  endif()
elseif(TRIREME_TORCH)
  get_filename_component(TRIREME_TORCH_DIR "${TRIREME_TORCH}" ABSOLUTE
    BASE_DIR "${PROJECT_SOURCE_DIR}")
endif()

if(TRIREME_TORCH_DIR)
  trireme_import_torch("${TRIREME_TORCH_DIR}")
  set(TRIREME_HAS_TORCH TRUE)
  message(STATUS "torch: ${TRIREME_TORCH_VERSION} in ${TRIREME_TORCH_DIR}")
endif()
