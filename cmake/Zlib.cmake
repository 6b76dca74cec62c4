# zlib: trireme/data/zlib. With it that folder's sources are compiled, without it only its stub.cpp,
# which has the same functions and says that there is no zlib. Nobody else asks.
# Sets TRIREME_HAS_ZLIB and TRIREME_PART_ZLIB, the line that `trireme version` prints.

set(TRIREME_HAS_ZLIB FALSE)
set(TRIREME_PART_ZLIB "off: without torch nothing uses it")
trireme_sources(zlib_sources data/zlib)
if(TRIREME_HAS_TORCH)
  find_package(ZLIB QUIET)
  if(ZLIB_FOUND)
    set(TRIREME_HAS_ZLIB TRUE)
    set(TRIREME_PART_ZLIB "on: zlib ${ZLIB_VERSION_STRING}")
    list(FILTER zlib_sources EXCLUDE REGEX "/stub\\.cpp$")
  else()
    set(TRIREME_PART_ZLIB "off: not found (zlib1g-dev)")
  endif()
endif()
if(NOT TRIREME_HAS_ZLIB)
  list(FILTER zlib_sources INCLUDE REGEX "/stub\\.cpp$")
endif()
