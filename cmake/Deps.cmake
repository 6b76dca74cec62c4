# The required dependencies besides threads and torch. Header-only ones come from TRIREME_DEPS first
# and from the system second; trireme_private carries them to Trireme's own .cpp files, and no public
# header includes them, so users of the installed library do not need them. OpenSSL is linked, so it
# always comes from the system, and users of the installed library need it too.

set(trireme_deps_hints)
if(TRIREME_DEPS)
  get_filename_component(TRIREME_DEPS "${TRIREME_DEPS}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  if(NOT IS_DIRECTORY "${TRIREME_DEPS}/include")
    message(FATAL_ERROR "TRIREME_DEPS=${TRIREME_DEPS} has no include/ folder. "
      "Make one with `make deps` on a machine that has the Debian packages, and copy it here.")
  endif()
  set(trireme_deps_hints "${TRIREME_DEPS}/include")
endif()

add_library(trireme_private INTERFACE)
target_link_libraries(trireme_private INTERFACE trireme_flags)
target_compile_definitions(trireme_private INTERFACE TOML_HEADER_ONLY=1)

# Finds `header` and adds its folder; if it is missing, the error names the Debian package.
function(trireme_require_header header package)
  string(MAKE_C_IDENTIFIER "TRIREME_PATH_${header}" path)
  if(NOT "${trireme_deps_hints}" STREQUAL "${TRIREME_DEPS_SEARCHED}")
    unset(${path} CACHE)  # found in an earlier DEPS
  endif()
  find_path(${path} NAMES ${header} HINTS ${trireme_deps_hints})
  mark_as_advanced(${path})
  if(NOT ${path})
    message(FATAL_ERROR "<${header}> is missing. Install it (apt-get install ${package}), or run "
      "`make deps` elsewhere and name the folder with DEPS=/path.")
  endif()
  if(NOT ${path} STREQUAL "/usr/include")
    target_include_directories(trireme_private SYSTEM INTERFACE "${${path}}")
  endif()
endfunction()

trireme_require_header(fmt/format.h libfmt-dev)
trireme_require_header(toml++/toml.h libtomlplusplus-dev)
trireme_require_header(CLI/CLI.hpp libcli11-dev)
trireme_require_header(nlohmann/json.hpp nlohmann-json3-dev)
trireme_require_header(xxhash.h libxxhash-dev)
trireme_require_header(boost/beast/http/parser.hpp libboost-dev)
# Only libcrypto: SHA-256, HMAC, AES, base64, random bytes.
find_package(OpenSSL 3.0 QUIET COMPONENTS Crypto)
if(NOT OPENSSL_FOUND)
  message(FATAL_ERROR "OpenSSL 3.0 or newer is missing, or its headers are. Install it (apt-get "
    "install libssl-dev); a folder made by `make deps` does not contain it. If it is in another "
    "place, name it with the environment variable OPENSSL_ROOT_DIR.")
endif()
# fmt 9 is compiled once (see the file); another version of fmt is included header-only, which
# compiles slowly but always works.
file(STRINGS "${TRIREME_PATH_fmt_format_h}/fmt/core.h" line REGEX "define FMT_VERSION [0-9]+")
if(line MATCHES "FMT_VERSION 90[0-9][0-9][0-9]")
  set(TRIREME_FMT_SOURCE "${PROJECT_SOURCE_DIR}/cmake/fmt_once.cpp")
  # Compilers newer than this fmt warn about its implementation.
  set_source_files_properties("${TRIREME_FMT_SOURCE}" PROPERTIES COMPILE_OPTIONS -w)
else()
  set(TRIREME_FMT_SOURCE "")
  target_compile_definitions(trireme_private INTERFACE FMT_HEADER_ONLY=1)
endif()
set(TRIREME_DEPS_SEARCHED "${trireme_deps_hints}" CACHE INTERNAL "")

# GoogleTest is available as sources in TRIREME_DEPS and as a library on the system.
macro(trireme_require_googletest)
  if(TRIREME_DEPS AND EXISTS "${TRIREME_DEPS}/googletest/CMakeLists.txt")
    set(INSTALL_GTEST OFF)
    set(CMAKE_WARN_DEPRECATED OFF)
    add_subdirectory("${TRIREME_DEPS}/googletest" "${CMAKE_BINARY_DIR}/googletest"
      EXCLUDE_FROM_ALL SYSTEM)
    if(NOT TARGET GTest::gmock)
      add_library(GTest::gmock ALIAS gmock)
      add_library(GTest::gtest ALIAS gtest)
    endif()
  else()
    find_package(GTest REQUIRED)
  endif()
endmacro()
