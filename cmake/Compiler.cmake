# How all sources of Trireme are compiled: language, warnings, sanitizers, ccache. trireme_flags
# carries these options; it is never installed, so users keep their own flags.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# Assertions of Trireme are always on, so NDEBUG is not needed; -g1 is sufficient for the lines of a
# backtrace at a third of the size.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

find_package(Threads REQUIRED)
find_program(TRIREME_CCACHE ccache)
if(TRIREME_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache requires the two sloppiness options to cache with a precompiled header; the other
  # variables let a second checkout or build folder reuse the cache of the first.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TRIREME_CCACHE})
endif()

# Links only the shared libraries that a program uses, so that `trireme` starts fast.
add_link_options(LINKER:--as-needed)

add_library(trireme_flags INTERFACE)
target_compile_options(trireme_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # In a unity build, GCC treats each source as an included header.
  target_compile_options(trireme_flags INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(trireme_flags INTERFACE -Wno-unknown-pragmas)
endif()

if(TRIREME_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread)
  # GCC's ThreadSanitizer does not model fences and warns where they are used.
  set(sanitize_quirks $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
elseif(TRIREME_SANITIZE STREQUAL "address")
  # An empty span may have a null pointer, and clang reports offsets from it even if they are never
  # dereferenced.
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=pointer-overflow>)
  # Coverage instrumentation for fuzzers; only code that fuzzers link has it, because it costs time.
  set(TRIREME_FUZZABLE $<$<CXX_COMPILER_ID:Clang>:-fsanitize=fuzzer-no-link>)
endif()
if(TRIREME_SANITIZE)
  add_compile_definitions(TRIREME_IS_SANITIZED)
  # Sanitizers do not see code that is optimized away, and optimization takes half of the compile
  # time.
  add_compile_options(-O0 -g1 -fno-omit-frame-pointer ${sanitize} ${sanitize_quirks})
  add_link_options(${sanitize})
endif()

# trireme_precompile(<target> <header>...) or (<target> REUSE_FROM <other>): a precompiled header
# that works with ccache.
function(trireme_precompile target)
  if("REUSE_FROM" IN_LIST ARGN)
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# trireme_share_precompiled(<program>): a program that includes torch uses the precompiled header of
# the library, which requires the library's -fPIC.
function(trireme_share_precompiled program)
  target_compile_options(${program} PRIVATE -fPIC)
  trireme_precompile(${program} REUSE_FROM trireme_torch)
endfunction()
