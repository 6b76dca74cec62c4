# Writes build_info.cpp: what this build is made of. The build id is a hash over the content of
# every source below trireme/, the compiler and its flags, torch and the parts: equal trees built
# alike on two hosts agree, and ranks of two different builds find out when they meet.

set(TRIREME_BUILD_INFO_SOURCE "${CMAKE_BINARY_DIR}/generated/build_info.cpp")
set(TRIREME_COMPILER "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
file(GLOB_RECURSE hashed CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/trireme/*.h" "${CMAKE_SOURCE_DIR}/trireme/*.cpp"
  "${CMAKE_SOURCE_DIR}/trireme/*.cu")
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(TRIREME_TYPE_FLAGS "${CMAKE_CXX_FLAGS_${type}}")
configure_file("${CMAKE_SOURCE_DIR}/cmake/build_info.cmake.in"
  "${CMAKE_BINARY_DIR}/generated/build_info.cmake" @ONLY)
add_custom_command(
  OUTPUT "${TRIREME_BUILD_INFO_SOURCE}"
  COMMAND ${CMAKE_COMMAND} -P "${CMAKE_BINARY_DIR}/generated/build_info.cmake"
  DEPENDS ${hashed} "${CMAKE_BINARY_DIR}/generated/build_info.cmake"
    "${CMAKE_SOURCE_DIR}/cmake/build_info.cpp.in"
  COMMENT "Hashing the sources into the build id"
  VERBATIM)
