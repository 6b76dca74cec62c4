# zlib, used by trireme/data/zlib. If it is available, the sources of that folder are compiled;
# otherwise only its stub.cpp, whose functions have the same signatures and report that zlib is
# missing. No other code depends on this choice.
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
