# Writes build_info.cpp, which describes this build. The build id is a hash of the content of every
# source below trireme/, the compiler and its flags, torch and the optional parts: equal trees that
# are built in the same way on two hosts have equal ids, and ranks of different builds detect each
# other when they connect.

set(TRIREME_BUILD_INFO_SOURCE "${PROJECT_BINARY_DIR}/generated/build_info.cpp")
set(TRIREME_COMPILER "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
string(JOIN " " TRIREME_BUILD_SALT
  "${TRIREME_COMPILER}" "${CMAKE_SYSTEM_PROCESSOR}" "${TRIREME_SANITIZE}" "${CMAKE_CXX_FLAGS}"
  "${CMAKE_CXX_FLAGS_${type}}" "${TRIREME_TORCH_VERSION}" "${TRIREME_PART_MPI}"
  "${TRIREME_PART_JPEG}" "${TRIREME_PART_PNG}" "${TRIREME_PART_ZLIB}" "${TRIREME_PART_ZSTD}"
  "${TRIREME_PART_CUDA}")
string(REPLACE "\"" "" TRIREME_BUILD_SALT "${TRIREME_BUILD_SALT}")
set(sources "${PROJECT_SOURCE_DIR}/trireme")
file(GLOB_RECURSE hashed CONFIGURE_DEPENDS "${sources}/*.h" "${sources}/*.inc"
  "${sources}/*.cpp" "${sources}/*.cu")
# Changes in the tests' own library do not change the build id.
list(FILTER hashed EXCLUDE REGEX "/trireme/testing/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/build_info.cmake.in"
  "${PROJECT_BINARY_DIR}/generated/build_info.cmake" @ONLY)
add_custom_command(
  OUTPUT "${TRIREME_BUILD_INFO_SOURCE}"
  COMMAND ${CMAKE_COMMAND} -P "${PROJECT_BINARY_DIR}/generated/build_info.cmake"
  DEPENDS ${hashed} "${PROJECT_BINARY_DIR}/generated/build_info.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/build_info.cpp.in" "${PROJECT_SOURCE_DIR}/cmake/build_id.cmake"
  COMMENT "Hashing the sources into the build id"
  VERBATIM)
