# trireme_import_torch(<site-packages/torch>): makes the imported target trireme::libtorch.
# Our build and the installed package both include this file.

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

  # libtorch.so and libtorch_cuda.so hold kernels that register themselves when loaded: no symbol
  # asks for them, so the linker must be told to keep them.
  set(link "-Wl,--push-state,--no-as-needed")
  foreach(name torch torch_cpu c10 torch_cuda c10_cuda)
    if(EXISTS "${folder}/lib/lib${name}.so")
      string(APPEND link ",${folder}/lib/lib${name}.so")
    endif()
  endforeach()
  string(APPEND link ",--pop-state")
  if(NOT TARGET trireme::libtorch)
    add_library(trireme::libtorch INTERFACE IMPORTED GLOBAL)
    set_target_properties(trireme::libtorch PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES
        "${folder}/include;${folder}/include/torch/csrc/api/include"
      INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=1"
      # A CUDA wheel's libraries find NVIDIA's beside them when they are loaded; the linker does
      # not look there, and need not.
      INTERFACE_LINK_OPTIONS "LINKER:-rpath,${folder}/lib;LINKER:--allow-shlib-undefined"
      INTERFACE_LINK_LIBRARIES "${link}"
      INTERFACE_COMPILE_FEATURES cxx_std_20)
  endif()
  set(TRIREME_TORCH_VERSION "${version}" PARENT_SCOPE)
endfunction()
