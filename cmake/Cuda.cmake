# CUDA, for the kernels of GPUs: the *.cu files in folders named cuda. Where nvcc is available they
# are compiled, and they are linked if PyTorch has CUDA, too. Otherwise the stub.cpp of their folders
# is, whose functions have the same signatures and report that the kernels are missing. No other
# code depends on this choice.
# Sets TRIREME_HAS_CUDA (kernels are linked), TRIREME_PART_CUDA, the line that `trireme version`
# prints, and trireme_kernel_sources, what is linked.

set(TRIREME_HAS_CUDA FALSE)
set(TRIREME_CUDA_ARCHITECTURES "80;90" CACHE STRING "GPUs that kernels are compiled for")
trireme_sources(trireme_kernel_sources optim model)
list(FILTER trireme_kernel_sources INCLUDE REGEX "/cuda/stub\\.cpp$")
set(TRIREME_PART_CUDA "off: not under a sanitizer")
if(NOT TRIREME_SANITIZE)
  include(CheckLanguage)
  check_language(CUDA)
  set(TRIREME_PART_CUDA "off: no nvcc found (CUDA toolkit)")
endif()
if(CMAKE_CUDA_COMPILER AND NOT TRIREME_SANITIZE)
  set(CMAKE_CUDA_ARCHITECTURES "${TRIREME_CUDA_ARCHITECTURES}")
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know nvcc 13
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/trireme/*.cu")
  add_library(trireme_kernels OBJECT ${kernels})
  target_include_directories(trireme_kernels PRIVATE "${PROJECT_SOURCE_DIR}")
  # PyTorch has loaded the shared runtime already.
  set_target_properties(trireme_kernels PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  # Each operation must be rounded separately: see trireme/optim/kernel/rules.h.
  target_compile_options(trireme_kernels PRIVATE -fmad=false --expt-relaxed-constexpr)
  if(TRIREME_TORCH_HAS_CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(TRIREME_HAS_CUDA TRUE)
    set(TRIREME_PART_CUDA "on: nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
    set(trireme_kernel_sources $<TARGET_OBJECTS:trireme_kernels>)
  else()
    set(TRIREME_PART_CUDA "off: PyTorch has no CUDA")
  endif()
endif()
