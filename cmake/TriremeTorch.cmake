# trireme_import_torch(<site-packages/torch>): defines the imported target trireme::libtorch. The
# build and the installed package both include this file.

set(TRIREME_TORCH_MINIMUM 2.11)

function(trireme_torch_version folder result)
  set(version "")
  if(EXISTS "${folder}/version.py")
    file(STRINGS "${folder}/version.py" line REGEX "^__version__ *=")
    string(REGEX MATCH "[0-9]+\\.[0-9]+[^'\"]*" version "${line}")
  elseif(EXISTS "${folder}/include/torch/headeronly/version.h")
    file(STRINGS "${folder}/include/torch/headeronly/version.h" line
      REGEX "define TORCH_VERSION \"")
    string(REGEX MATCH "[0-9]+\\.[0-9]+[^\"]*" version "${line}")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# trireme_shared_cxx_runtime(<site-packages/torch> <result>): the path of the libstdc++ that programs
# must link before torch's libraries, for two reasons. A compiler may have only the static libstdc++;
# then a program would have a second copy of it, with thread-local variables of its own, and oneDNN,
# which calls std::call_once, would crash when it creates a convolution. And some builds of libtorch.so
# export functions of std::filesystem that do not work in other programs.
function(trireme_shared_cxx_runtime folder result)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libstdc++.so
    OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT IS_ABSOLUTE "${runtime}")
    execute_process(COMMAND ldd "${folder}/lib/libtorch_cpu.so" OUTPUT_VARIABLE loaded ERROR_QUIET)
    if(NOT loaded MATCHES "libstdc[+][+]\\.so\\.6 => ([^ ]+)")
      message(FATAL_ERROR "${CMAKE_CXX_COMPILER} has no shared libstdc++, and ldd does not show "
        "which one PyTorch loads. Use a compiler that has libstdc++.so.")
    endif()
    set(runtime "${CMAKE_MATCH_1}")
  endif()
  set(${result} "${runtime}" PARENT_SCOPE)
endfunction()

function(trireme_import_torch folder)
  if(NOT EXISTS "${folder}/lib/libtorch_cpu.so" OR NOT EXISTS "${folder}/include/torch")
    message(FATAL_ERROR "TORCH=${folder} is no PyTorch: it lacks lib/libtorch_cpu.so or "
      "include/torch. Name the folder that `python3 -c 'import torch; print(torch.__path__[0])'` "
      "prints, or a LibTorch archive's top folder.")
  endif()
  trireme_torch_version("${folder}" version)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+(\\.[0-9]+)?" number "${version}")
  if(NOT number OR number VERSION_LESS TRIREME_TORCH_MINIMUM)
    message(FATAL_ERROR "PyTorch ${version} in ${folder} is too old: Trireme needs "
      "${TRIREME_TORCH_MINIMUM} or newer (pip install torch==2.13.0).")
  endif()

  # libtorch.so and libtorch_cuda.so contain kernels that register themselves when loaded: no symbol
  # refers to them, so the linker must be told to keep the libraries.
  trireme_shared_cxx_runtime("${folder}" cxx_runtime)
  set(link "-Wl,--push-state,--no-as-needed,${cxx_runtime}")
  foreach(name torch torch_cpu c10 torch_cuda c10_cuda)
    if(EXISTS "${folder}/lib/lib${name}.so")
      string(APPEND link ",${folder}/lib/lib${name}.so")
    endif()
  endforeach()
  string(APPEND link ",--pop-state")

  # at::parallel_for is a template: without -fopenmp it is compiled into a serial loop. The OpenMP
  # runtime must be the one that torch loads, because a second one would have its own threads.
  set(openmp "")
  file(GLOB runtime "${folder}/lib/libgomp*.so*" "${folder}/../torch.libs/libgomp*.so*")
  if(runtime AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(GET runtime 0 runtime)
    get_filename_component(runtime_folder "${runtime}" DIRECTORY)
    string(APPEND link ",${runtime},-rpath,${runtime_folder}")
    set(openmp "$<$<COMPILE_LANGUAGE:CXX>:-fopenmp>")
  else()
    message(STATUS "torch: our own loops run on one thread (they need GCC and torch's libgomp)")
  endif()
  if(NOT TARGET trireme::libtorch)
    add_library(trireme::libtorch INTERFACE IMPORTED GLOBAL)
    set_target_properties(trireme::libtorch PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES
        "${folder}/include;${folder}/include/torch/csrc/api/include"
      INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=1"
      INTERFACE_COMPILE_OPTIONS "${openmp}"
      # The libraries of a CUDA wheel find NVIDIA's libraries next to them when they are loaded; the
      # linker does not search there and does not need to.
      INTERFACE_LINK_OPTIONS "LINKER:-rpath,${folder}/lib;LINKER:--allow-shlib-undefined"
      INTERFACE_LINK_LIBRARIES "${link}"
      INTERFACE_COMPILE_FEATURES cxx_std_20)
  endif()
  set(TRIREME_TORCH_VERSION "${version}" PARENT_SCOPE)
  if(EXISTS "${folder}/lib/libtorch_cuda.so")
    set(TRIREME_TORCH_HAS_CUDA TRUE PARENT_SCOPE)
  endif()
endfunction()
