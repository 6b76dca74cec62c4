# libpng, used by trireme/data/png. If it is available, the sources of that folder are compiled;
# otherwise only its stub.cpp, whose functions have the same signatures and report that libpng is
# missing. No other code depends on this choice.
# Sets TRIREME_HAS_PNG and TRIREME_PART_PNG, the line that `trireme version` prints.

set(TRIREME_HAS_PNG FALSE)
set(TRIREME_PART_PNG "off: without torch nothing uses it")
trireme_sources(png_sources data/png)
if(TRIREME_HAS_TORCH)
  find_package(PNG QUIET)
  if(PNG_FOUND)
    set(TRIREME_HAS_PNG TRUE)
    set(TRIREME_PART_PNG "on: libpng ${PNG_VERSION_STRING}")
    list(FILTER png_sources EXCLUDE REGEX "/stub\\.cpp$")
  else()
    set(TRIREME_PART_PNG "off: not found (libpng-dev)")
  endif()
endif()
if(NOT TRIREME_HAS_PNG)
  list(FILTER png_sources INCLUDE REGEX "/stub\\.cpp$")
endif()
